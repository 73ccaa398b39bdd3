"""Make real HTTP requests in tests on virtual time. The virtual clock stops while a request is in progress."""

from __future__ import annotations

import asyncio
import ssl
import threading
from typing import Any

from ostinato.engine.http.egress import Egress, EgressResponse, EgressTimedOut
from ostinato.testing.virtual_time import VirtualLoop

_DEFAULT_TIMEOUT_S = 30.0  # as in `Egress.request`


class VirtualTimeEgress(Egress):
    """Makes real requests, which take no virtual time. The timeout of a request is measured in real time. If the
    timeout expires, virtual time moves on by the length of the timeout, and `EgressTimedOut` is raised."""

    def __init__(self, egress: Egress) -> None:
        super().__init__(egress.policy)
        self._egress = egress

    def with_tls(self, tls: ssl.SSLContext) -> Egress:
        return VirtualTimeEgress(self._egress.with_tls(tls))

    async def request(self, method: str, url: str, **options: Any) -> EgressResponse:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualLoop):
            return await self._egress.request(method, url, **options)
        timeout = float(options.get("timeout", _DEFAULT_TIMEOUT_S))
        with loop.freeze_time():
            call = asyncio.ensure_future(self._egress.request(method, url, **options))
            late = threading.Event()

            def give_up() -> None:
                late.set()
                loop.call_soon_threadsafe(call.cancel)

            timer = threading.Timer(timeout, give_up)
            timer.daemon = True
            timer.start()
            try:
                return await call
            except asyncio.CancelledError:
                if not late.is_set():
                    call.cancel()
                    raise
            finally:
                timer.cancel()
        await asyncio.sleep(timeout)
        raise EgressTimedOut(f"no whole answer within {timeout:g} s")
