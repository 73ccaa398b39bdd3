"""Answer Temporal's calls about the system, its namespaces and its workers.

Ostinato has no tasks for Temporal's workers. If a worker polls for tasks, the call waits and then returns an empty
response, not an error.
"""

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
from ostinato.faces.auth import Refused
from ostinato.faces.temporal.calls import ServiceCalls, TemporalCall, call, read_id
from ostinato.faces.temporal.errors import NamespaceExists, NoNamespace
from ostinato.faces.temporal.pages import Page
from ostinato.faces.temporal.times import write_duration
from ostinato.version import __version__
from ostinato.when.instants import Micros

_POLL = 60.0  # seconds until a poll is answered


class SystemCalls(ServiceCalls):
    async def GetSystemInfo(self, request: Any, context: Any) -> GetSystemInfoResponse:
        """Return the server's version and capabilities. No token is needed, because clients call this first."""
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
    async def GetClusterInfo(self, request: Any, call: TemporalCall) -> GetClusterInfoResponse:
        return GetClusterInfoResponse(
            server_version=f"ostinato-{__version__}",
            cluster_id="ostinato",
            cluster_name="ostinato",
            history_shard_count=1,
            persistence_store=call.app.store.url.partition(":")[0],
            visibility_store="ostinato",
        )

    @call(Role.READER, within=False)
    async def DescribeNamespace(self, request: Any, call: TemporalCall) -> DescribeNamespaceResponse:
        """Describe a namespace. The namespace's id is its name. Raises `NoNamespace` if the caller may not see it."""
        name = request.namespace or request.id or call.app.namespace
        for namespace in await _visible_namespaces(call):
            if namespace.name == name:
                return _describe(namespace, call)
        raise NoNamespace(name)

    @call(Role.READER, within=False)
    async def ListNamespaces(self, request: Any, call: TemporalCall) -> ListNamespacesResponse:
        """Return all namespaces on one page. Every page token is refused, because none is ever given out."""
        Page("namespaces", "").read(request.next_page_token)
        return ListNamespacesResponse(namespaces=[_describe(one, call) for one in await _visible_namespaces(call)])

    @call(Role.ADMIN, within=False)
    async def RegisterNamespace(self, request: Any, call: TemporalCall) -> RegisterNamespaceResponse:
        if call.who.token is not None and call.who.token.namespace is not None:
            raise Refused(403, "forbidden", "this reaches over every namespace; the token is one namespace's")
        name = read_id(request.namespace, "namespace")
        if not await call.app.create_namespace(name, request.description):
            raise NamespaceExists(name)
        return RegisterNamespaceResponse()

    @call(Role.READER)
    async def PollWorkflowTaskQueue(self, request: Any, call: TemporalCall) -> PollWorkflowTaskQueueResponse:
        await _hold(call)
        return PollWorkflowTaskQueueResponse()

    @call(Role.READER)
    async def PollActivityTaskQueue(self, request: Any, call: TemporalCall) -> PollActivityTaskQueueResponse:
        await _hold(call)
        return PollActivityTaskQueueResponse()

    @call(Role.READER)
    async def PollNexusTaskQueue(self, request: Any, call: TemporalCall) -> PollNexusTaskQueueResponse:
        await _hold(call)
        return PollNexusTaskQueueResponse()

    @call(Role.READER)
    async def RecordWorkerHeartbeat(self, request: Any, call: TemporalCall) -> RecordWorkerHeartbeatResponse:
        return RecordWorkerHeartbeatResponse()

    @call(Role.READER)
    async def ShutdownWorker(self, request: Any, call: TemporalCall) -> ShutdownWorkerResponse:
        return ShutdownWorkerResponse()


async def _hold(call: TemporalCall) -> None:
    """Wait `_POLL` seconds, or less if the call's deadline is earlier or the server stops."""
    await wait_for_event(call.wire.closing, call.limit_wait(_POLL))


async def _visible_namespaces(call: TemporalCall) -> list[NamespaceInfo]:
    token, app = call.who.token, call.wire.door.app
    namespaces = await app.namespaces()
    if app.namespace not in {namespace.name for namespace in namespaces}:
        namespaces = [*namespaces, NamespaceInfo(app.namespace, "", 0, None)]
    only = None if token is None else token.namespace
    return [namespace for namespace in namespaces if only is None or namespace.name == only]


def _describe(namespace: NamespaceInfo, call: TemporalCall) -> DescribeNamespaceResponse:
    message = DescribeNamespaceResponse()
    # A client that imports schedules from here computes the seed of their jitter from the namespace's id.
    message.namespace_info.name = message.namespace_info.id = namespace.name
    message.namespace_info.description = namespace.notes
    message.namespace_info.state = NamespaceState.NAMESPACE_STATE_REGISTERED
    keep: Micros = call.app.settings.keep_runs
    message.config.workflow_execution_retention_ttl.CopyFrom(write_duration(keep))
    message.replication_config.active_cluster_name = "ostinato"
    return message
