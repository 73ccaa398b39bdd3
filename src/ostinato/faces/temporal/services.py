"""The services as gRPC knows them: our calls, and for all the rest an answer that says what there is instead."""

from __future__ import annotations

from typing import Any

import grpc
from temporalio.api.operatorservice.v1 import service_pb2_grpc as operator_service
from temporalio.api.workflowservice.v1 import service_pb2_grpc as workflow_service

from ostinato.faces.temporal.calls import Calls, Wire, absent
from ostinato.faces.temporal.operator import OperatorCalls
from ostinato.faces.temporal.runs import RunCalls
from ostinato.faces.temporal.schedules import ScheduleCalls
from ostinato.faces.temporal.system import SystemCalls

_WORKERS = "Temporal's workers have no part here: a workflow type is a job of an Ostinato app, which runs it"
_JOBS = "a workflow is a job here, and a job takes no {}"
# Why a call is not there, by the beginning of its name; the first that fits.
_WHY = {
    "SignalWithStart": _JOBS.format("signals") + "; nothing was started",
    "Query": _JOBS.format("queries") + "; look at its description, or its progress through the HTTP API",
    "UpdateWorkflowExecution": _JOBS.format("updates"),
    "PollWorkflowExecutionUpdate": _JOBS.format("updates"),
    "ExecuteMultiOperation": _JOBS.format("updates") + "; nothing was started",
    "ResetWorkflow": "there is no history to go back in; start it anew, or `ostinato runs retry`",
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


def _service(given: Any, *ours: type[Calls]) -> Any:
    """A servicer with our calls, and an answer for each call that is not ours."""
    found: Any = type(given.__name__, (*ours, given), {})
    for name in dir(given):
        if name[0].isupper() and getattr(found, name) is getattr(given, name):
            setattr(found, name, absent(name, why(name)))
    return found


WorkflowService = _service(workflow_service.WorkflowServiceServicer, ScheduleCalls, RunCalls, SystemCalls)
OperatorService = _service(operator_service.OperatorServiceServicer, OperatorCalls)

_SERVING = b"\x08\x01"  # HealthCheckResponse{status: SERVING}
_NOT_SERVING = b"\x08\x02"


def health(wire: Wire) -> grpc.GenericRpcHandler:
    """gRPC's own health service; anyone may ask. Its two messages are too small to be worth a dependency."""

    async def check(request: bytes, context: Any) -> bytes:
        return _SERVING if wire.door.app.ready() and not wire.closing.is_set() else _NOT_SERVING

    found: grpc.GenericRpcHandler = grpc.method_handlers_generic_handler(
        "grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(check)}
    )
    return found
