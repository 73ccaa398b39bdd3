"""Assemble the gRPC services that Temporal's clients call.

If Ostinato does not have a call, the call fails, and the error says why.
"""

from __future__ import annotations

from typing import Any

import grpc
from temporalio.api.operatorservice.v1 import service_pb2_grpc as operator_service
from temporalio.api.workflowservice.v1 import service_pb2_grpc as workflow_service

from ostinato.faces.temporal.calls import ServiceCalls, Wire, absent
from ostinato.faces.temporal.operator import OperatorCalls
from ostinato.faces.temporal.runs import RunCalls
from ostinato.faces.temporal.schedules import ScheduleCalls
from ostinato.faces.temporal.system import SystemCalls

_WORKERS = "Temporal's workers have no part here: an Ostinato app runs workflow types, as its jobs and functions"
_UPDATES = "jobs and functions take no updates; send a function a signal, and query its state"
# From the beginning of a call's name to the reason why Ostinato does not have it. The first match is used.
_WHY = {
    "UpdateWorkflowExecution": _UPDATES,
    "PollWorkflowExecutionUpdate": _UPDATES,
    "ExecuteMultiOperation": _UPDATES + "; nothing was started",
    "ResetWorkflow": "there is no history to go back in; start it again, or `ostinato runs retry`",
    "DeleteWorkflow": "runs are removed when they are older than keep_runs",
    "Respond": _WORKERS,
    "Record": _WORKERS,
    "Batch": "list what is meant and go through it",
    "StartBatch": "list what is meant and go through it",
    "ListOpen": "use ListWorkflowExecutions with ExecutionStatus = 'Running'",
    "ListClosed": "use ListWorkflowExecutions with a query on ExecutionStatus",
    "ListArchived": "nothing is archived; runs are kept for keep_runs",
    "Scan": "use ListWorkflowExecutions",
    "UpdateNamespace": "use `ostinato namespaces`, or the HTTP API",
    "DeleteNamespace": "use `ostinato namespaces delete`, or the HTTP API",
    "GetSearchAttributes": "use the operator service's ListSearchAttributes",
}
_OTHERWISE = "it belongs to Temporal's workers, deployments or other services, which are not here"


def why(name: str) -> str:
    return next((words for begin, words in _WHY.items() if name.startswith(begin)), _OTHERWISE)


def _service(servicer: Any, *calls: type[ServiceCalls]) -> Any:
    """Return a subclass of `servicer` with the given calls. All other calls of the service raise `Absent`."""
    service: Any = type(servicer.__name__, (*calls, servicer), {})
    for name in dir(servicer):
        if name[0].isupper() and getattr(service, name) is getattr(servicer, name):
            setattr(service, name, absent(name, why(name)))
    return service


WorkflowService = _service(workflow_service.WorkflowServiceServicer, ScheduleCalls, RunCalls, SystemCalls)
OperatorService = _service(operator_service.OperatorServiceServicer, OperatorCalls)

_SERVING = b"\x08\x01"  # HealthCheckResponse{status: SERVING}
_NOT_SERVING = b"\x08\x02"


def health(wire: Wire) -> grpc.GenericRpcHandler:
    """Return gRPC's health service, which needs no authentication. Encoding its messages by hand saves a dependency."""

    async def check(request: bytes, context: Any) -> bytes:
        return _SERVING if wire.door.app.ready() and not wire.closing.is_set() else _NOT_SERVING

    handler: grpc.GenericRpcHandler = grpc.method_handlers_generic_handler(
        "grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(check)}
    )
    return handler
