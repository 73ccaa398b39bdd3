"""The calls about the system itself: what it is, which namespaces there are, whether it is well. And the polls of
workers, which are held and stay empty, so that a process which also starts a worker is not torn down."""

from __future__ import annotations

from typing import Any

from temporalio.api.enums.v1 import NamespaceState
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceResponse,
    GetClusterInfoResponse,
    GetSystemInfoResponse,
    ListNamespacesResponse,
    PollActivityTaskQueueResponse,
    PollNexusTaskQueueResponse,
    PollWorkflowTaskQueueResponse,
    RecordWorkerHeartbeatResponse,
    RegisterNamespaceResponse,
    ShutdownWorkerResponse,
)

from ostinato.engine.access import NamespaceInfo, Role
from ostinato.engine.listeners import wait_for_event
from ostinato.faces.door import Refused
from ostinato.faces.temporal.calls import Call, Calls, call, read_id
from ostinato.faces.temporal.errors import AlreadyStarted, NoNamespace
from ostinato.faces.temporal.times import write_duration
from ostinato.version import __version__
from ostinato.when.instants import Micros

_PATIENCE = 60.0  # seconds that a poll is held


class SystemCalls(Calls):
    async def GetSystemInfo(self, request: Any, context: Any) -> GetSystemInfoResponse:
        """Anyone may ask what this is: clients do so before anything else, to find out how to speak."""
        capabilities = GetSystemInfoResponse.Capabilities(
            signal_and_query_header=True,
            internal_error_differentiation=True,
            supports_schedules=True,
            encoded_failure_attributes=True,
            sdk_metadata=True,
            count_group_by_execution_status=True,
        )
        return GetSystemInfoResponse(server_version=f"ostinato-{__version__}", capabilities=capabilities)

    @call(Role.READER)
    async def GetClusterInfo(self, request: Any, call: Call) -> GetClusterInfoResponse:
        return GetClusterInfoResponse(
            server_version=f"ostinato-{__version__}",
            cluster_id="ostinato",
            cluster_name="ostinato",
            history_shard_count=1,
            persistence_store=call.app.store.url.partition(":")[0],
            visibility_store="ostinato",
        )

    @call(Role.READER, within=False)
    async def DescribeNamespace(self, request: Any, call: Call) -> DescribeNamespaceResponse:
        """An id of a namespace is its name: the jitter of a schedule is made of both sides' ids."""
        wanted = request.namespace or request.id or call.app.namespace
        for one in await _namespaces(call):
            if one.name == wanted:
                return _described(one, call)
        raise NoNamespace(wanted)

    @call(Role.READER, within=False)
    async def ListNamespaces(self, request: Any, call: Call) -> ListNamespacesResponse:
        return ListNamespacesResponse(namespaces=[_described(one, call) for one in await _namespaces(call)])

    @call(Role.ADMIN, within=False)
    async def RegisterNamespace(self, request: Any, call: Call) -> RegisterNamespaceResponse:
        if call.who.token is not None and call.who.token.namespace is not None:
            raise Refused(403, "forbidden", "this reaches over every namespace; the token is one namespace's")
        name = read_id(request.namespace, "namespace")
        if not await call.app.create_namespace(name, request.description):
            raise AlreadyStarted(f"Namespace {name} already exists.", "")
        return RegisterNamespaceResponse()

    @call(Role.READER)
    async def PollWorkflowTaskQueue(self, request: Any, call: Call) -> PollWorkflowTaskQueueResponse:
        await _hold(call)
        return PollWorkflowTaskQueueResponse()

    @call(Role.READER)
    async def PollActivityTaskQueue(self, request: Any, call: Call) -> PollActivityTaskQueueResponse:
        await _hold(call)
        return PollActivityTaskQueueResponse()

    @call(Role.READER)
    async def PollNexusTaskQueue(self, request: Any, call: Call) -> PollNexusTaskQueueResponse:
        await _hold(call)
        return PollNexusTaskQueueResponse()

    @call(Role.READER)
    async def RecordWorkerHeartbeat(self, request: Any, call: Call) -> RecordWorkerHeartbeatResponse:
        return RecordWorkerHeartbeatResponse()

    @call(Role.READER)
    async def ShutdownWorker(self, request: Any, call: Call) -> ShutdownWorkerResponse:
        return ShutdownWorkerResponse()


async def _hold(call: Call) -> None:
    """Nothing will come; the poll is answered when its patience is at its end, or the server's."""
    await wait_for_event(call.wire.closing, call.remaining(_PATIENCE))


async def _namespaces(call: Call) -> list[NamespaceInfo]:
    """Those that the caller may know of."""
    token, app = call.who.token, call.wire.door.app
    there = await app.namespaces()
    if app.namespace not in {one.name for one in there}:
        there = [*there, NamespaceInfo(app.namespace, "", 0, None)]
    own = None if token is None else token.namespace
    return [one for one in there if own is None or one.name == own]


def _described(one: NamespaceInfo, call: Call) -> DescribeNamespaceResponse:
    found = DescribeNamespaceResponse()
    found.namespace_info.name = found.namespace_info.id = one.name
    found.namespace_info.description = one.notes
    found.namespace_info.state = NamespaceState.NAMESPACE_STATE_REGISTERED
    keep: Micros = call.app.settings.keep_runs
    found.config.workflow_execution_retention_ttl.CopyFrom(write_duration(keep))
    found.replication_config.active_cluster_name = "ostinato"
    return found
