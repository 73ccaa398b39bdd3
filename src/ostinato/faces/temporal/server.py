"""Run the gRPC server for Temporal's clients, in the process and the event loop of the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
from temporalio.api.operatorservice.v1.service_pb2_grpc import add_OperatorServiceServicer_to_server
from temporalio.api.workflowservice.v1.service_pb2_grpc import add_WorkflowServiceServicer_to_server

from ostinato.errors import OstinatoError
from ostinato.faces.auth import Door
from ostinato.faces.http.server import Listening
from ostinato.faces.temporal.calls import LARGEST, Wire
from ostinato.faces.temporal.services import OperatorService, WorkflowService, health
from ostinato.faces.temporal.wire_schedules import mark_schedules

_GRACE = 5.0  # seconds in which calls can finish when the server stops
_OPTIONS = (
    ("grpc.so_reuseport", 0),  # a port in use is an error
    ("grpc.max_receive_message_length", 4 * LARGEST),  # `calls` refuses what is too large, and names the field
    ("grpc.max_send_message_length", 16 * LARGEST),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.min_ping_interval_without_data_ms", 5_000),  # clients ping while they wait
    ("grpc.http2.max_ping_strikes", 0),
)


class WireServer:
    """The gRPC server. It binds its port when it is created, and raises `OstinatoError` if the port is in use.

    Create the server before the engine starts, so that the error comes before any work begins.
    """

    def __init__(self, door: Door, where: Listening) -> None:
        self.wire = Wire(door)
        self._server: Any = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=10_000)
        add_WorkflowServiceServicer_to_server(WorkflowService(self.wire), self._server)
        add_OperatorServiceServicer_to_server(OperatorService(self.wire), self._server)
        self._server.add_generic_rpc_handlers((health(self.wire),))
        host = f"[{where.host}]" if ":" in where.host else where.host
        try:
            if where.tls_certificate is None or where.tls_key is None:
                self.port: int = self._server.add_insecure_port(f"{host}:{where.port}")
            else:
                pair = (Path(where.tls_key).read_bytes(), Path(where.tls_certificate).read_bytes())
                self.port = self._server.add_secure_port(f"{host}:{where.port}", grpc.ssl_server_credentials([pair]))
        except OSError as problem:
            raise OstinatoError(f"the TLS certificate {where.tls_certificate} cannot be used: {problem}") from None
        except RuntimeError as problem:
            raise OstinatoError(
                f"cannot listen on {host}, port {where.port}, for Temporal's clients: is it in use? "
                f"take another with --temporal ({problem})"
            ) from None
        self.address = f"{host}:{self.port}"

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Answer calls inside the `async with` block. Yield the address.

        At the end of the block, waiting calls return at once. The other calls have `_GRACE` seconds to finish.
        """
        await self.wire.door.app.store.run(lambda _: mark_schedules())
        await self._server.start()
        try:
            yield self.address
        finally:
            self.wire.closing.set()
            await self._server.stop(_GRACE)
