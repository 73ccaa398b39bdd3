"""The same calls through Python, the HTTP API and Temporal's wire, each answered in the words of `record`.

HTTP goes through the whole application but not through a socket, the wire through its services with messages that were
written and read: so both run on virtual time, and a seed is replayed as it was."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import grpc
import httpx
import orjson
from fastapi import FastAPI
from temporalio.api.common.v1 import Payloads, WorkflowExecution, WorkflowType
from temporalio.api.enums.v1 import ScheduleOverlapPolicy, WorkflowIdConflictPolicy, WorkflowIdReusePolicy
from temporalio.api.schedule.v1 import (
    BackfillRequest,
    IntervalSpec,
    Schedule,
    ScheduleAction,
    SchedulePatch,
    SchedulePolicies,
    ScheduleSpec,
    ScheduleState,
    TriggerImmediatelyRequest,
)
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    CreateScheduleRequest,
    DeleteScheduleRequest,
    DescribeScheduleRequest,
    DescribeWorkflowExecutionRequest,
    PatchScheduleRequest,
    RequestCancelWorkflowExecutionRequest,
    SignalWorkflowExecutionRequest,
    StartWorkflowExecutionRequest,
    TerminateWorkflowExecutionRequest,
    UpdateScheduleRequest,
)

from ostinato import Ostinato, every
from ostinato.errors import Conflict, NotFound, OstinatoError, StoreUnavailable
from ostinato.faces.auth import Door
from ostinato.faces.http.server import Listening, api
from ostinato.faces.temporal.calls import Wire
from ostinato.faces.temporal.payloads import payload_of
from ostinato.faces.temporal.services import WorkflowService
from ostinato.schedules.operations.edit import TokenMismatch
from tests.histories.record import Answer, Lost, Refused, Taken

JOB = "work"
JOURNEY = "talk"
STEP = "ask"
DIGEST = "digest"
OVER = ("cancelled", "exhausted", "completed")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
PHASES = {"RUNNING": "running", "SUCCEEDED": "succeeded", "FAILED": "cancelled"}
_BUSY = "moves on too fast"
_STOPPED = ("is not running", "is being closed", "is stopping")
REUSE = {
    "allow": WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
    "failed": WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
    "reject": WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
}
CONFLICT = {
    "fail": WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
    "use": WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
    "terminate": WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_TERMINATE_EXISTING,
}
ALLOW_ALL = ScheduleOverlapPolicy.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL


class Unexpected(AssertionError):
    """A call ended with something that no caller should ever see."""


class Face:
    """`await face.call("run", "cancel", "r1", {"mark": 1}, key)`: one method for each kind of object and verb."""

    async def call(self, kind: str, verb: str, name: str, arguments: Mapping[str, Any], key: str | None) -> Answer:
        raise NotImplementedError

    def knows(self, kind: str, verb: str) -> bool:
        return hasattr(self, f"{kind}_{verb}")


def refusal(code: str, words: str) -> Answer:
    if any(one in words for one in _STOPPED):
        return Lost(words)
    return Refused("busy" if _BUSY in words else code, words)


def backfilled(arguments: Mapping[str, Any]) -> tuple[datetime, datetime]:
    """The range of a backfill: so many seconds that lie before everything else."""
    return BEGIN - timedelta(hours=1), BEGIN - timedelta(hours=1) + timedelta(seconds=arguments["seconds"])


class PythonFace(Face):
    def __init__(self, app: Ostinato) -> None:
        self.app = app

    async def call(self, kind: str, verb: str, name: str, arguments: Mapping[str, Any], key: str | None) -> Answer:
        try:
            return Taken(await getattr(self, f"{kind}_{verb}")(name, arguments, key))
        except StoreUnavailable as problem:
            return Lost(str(problem))
        except TokenMismatch as problem:
            return refusal("token", str(problem))
        except NotFound as problem:
            return refusal("absent", str(problem))
        except Conflict as problem:
            return refusal("conflict", str(problem))
        except OstinatoError as problem:
            answer = refusal("", str(problem))
            if isinstance(answer, Refused):
                raise Unexpected(f"{verb} {name}: {problem}") from problem
            return answer
        except AssertionError as problem:
            if self.app._engine is None:
                return Lost("the node was stopped")
            raise Unexpected(f"{verb} {name}: {problem!r}") from problem

    # Runs

    async def run_start(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        handle = await self.app.start(JOB, dict(arguments), id=name, request_id=key)
        return {"id": handle.id, "new": handle.new}

    async def jobs_start(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        handle = await self.app.start(JOB, dict(arguments), request_id=key)
        return {"id": handle.id, "new": handle.new}

    async def run_cancel(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        return {"status": await self.app.cancel(name, request_id=key)}

    async def run_terminate(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        return {"status": await self.app.terminate(name, request_id=key)}

    async def run_repeat(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        return {"run": (await self.app.retry(name, request_id=key)).id}

    async def run_look(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        run = await self.app.get(name)
        over = run.over and run.status != "crashed"
        shown = {"over": over, "mark": run.input["mark"], "id": run.id}
        return shown | ({"status": run.status} if over else {})

    # Schedules

    async def schedule_create(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        spec, input = every(f"{arguments['every']}s"), {"mark": arguments["mark"]}
        done = await self.app.schedules.create(name, spec, JOB, input=input, overlap="allow_all", request_id=key)
        return {"token": done.token}

    async def schedule_pause(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        done = await self.app.schedules.pause(name, arguments["note"], token=arguments.get("token"), request_id=key)
        return {"token": done.token}

    async def schedule_resume(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        done = await self.app.schedules.resume(
            name, arguments["note"], catchup=arguments.get("catchup"), token=arguments.get("token"), request_id=key
        )
        return {"token": done.token}

    async def schedule_update(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        if "every" in arguments:
            changes["spec"] = every(f"{arguments['every']}s")
        if "mark" in arguments:
            changes["input"] = {"mark": arguments["mark"]}
        done = await self.app.schedules.update(name, token=arguments.get("token"), request_id=key, **changes)
        return {"token": done.token}

    async def schedule_trigger(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        input = {"mark": arguments["mark"]}
        done = await self.app.schedules.trigger(
            name, input=input, overlap="allow_all", token=arguments.get("token"), request_id=key
        )
        return {"token": done.token}

    async def schedule_backfill(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        done = await self.app.schedules.backfill(
            name, *backfilled(arguments), overlap="allow_all", input={"mark": arguments["mark"]},
            token=arguments.get("token"), request_id=key,
        )  # fmt: skip
        return {"token": done.token}

    async def schedule_delete(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        done = await self.app.schedules.delete(name, token=arguments.get("token"), request_id=key)
        return {"token": done.token}

    async def schedule_look(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        info = await self.app.schedules.get(name)
        return {
            "token": info.token,
            "paused": info.paused is not None,
            "note": info.notes,
            "every": interval_of(info.spec.to_json()),
            "mark": info.input["mark"],
        }

    # Journeys

    async def journey_start(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        status = await self.app.journeys.start(JOURNEY, {}, id=f"request:{name}")
        return {"id": status.id, "look": seen(status.phase, status.current_state)}

    async def journey_submit(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        status = await self.app.journeys.submit(arguments["id"], STEP, {"mark": arguments["mark"]}, key=key)
        return {"look": seen(status.phase, status.current_state)}

    async def journey_cancel(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        status = await self.app.journeys.cancel(arguments["id"])
        return {"look": seen(status.phase, status.current_state)}

    async def journey_look(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        status = await self.app.journeys.status(arguments["id"])
        return seen(status.phase, status.current_state)

    # Bindings

    async def binding_schedule(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        status = await self.app.journeys.start(DIGEST, {**arguments, "who": name}, id=f"request:{key}")
        return scheduled(status.phase)

    async def binding_cancel(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        await self.app.journeys.cancel_binding(arguments["maker"])
        return {}

    async def binding_look(self, name: str, arguments: Mapping[str, Any], key: str | None) -> dict[str, Any]:
        bindings = await self.app.journeys.bindings(name=DIGEST, subject=name)
        return {"open": tuple(one.id for one in bindings if one.state not in OVER)}


def scheduled(phase: str) -> dict[str, Any]:
    """Whether a journey that schedules has done so. One that is not over has not said."""
    if phase == "RUNNING":
        raise StoreUnavailable("it was not over when it was answered")
    return {"done": phase == "SUCCEEDED"}


def seen(phase: str, state: str) -> dict[str, Any]:
    """A journey's status in the model's words."""
    return {"phase": PHASES[phase], "asks": phase == "RUNNING" and state == STEP}


def interval_of(spec: Mapping[str, Any]) -> int:
    """The seconds of a spec that has one interval and nothing else."""
    (interval,) = spec["intervals"]
    return int(interval["every"].removeprefix("PT").removesuffix("S"))


@cache
def _routes() -> FastAPI:
    """The application once: to make its routes takes longer than a whole history."""
    application = api(Ostinato("sqlite:///:memory:"), Listening())
    application.middleware_stack = application.build_middleware_stack()
    return application


def _application(app: Ostinato) -> FastAPI:
    """The application of one node. What it knows of its node is in its state."""
    application = copy(_routes())
    application.state = api(app, Listening()).state
    return application


class HttpFace(Face):
    def __init__(self, app: Ostinato) -> None:
        self.app = app
        transport = httpx.ASGITransport(_application(app), raise_app_exceptions=False)
        self._client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8471/api/v1")

    async def call(self, kind: str, verb: str, name: str, arguments: Mapping[str, Any], key: str | None) -> Answer:
        method, path, body = getattr(self, f"{kind}_{verb}")(name, arguments)
        headers = {} if key is None else {"Idempotency-Key": key}
        if arguments.get("token") is not None:
            headers["If-Match"] = f'"{arguments["token"]}"'
        if (kind, verb) == ("journey", "start"):
            headers["Idempotency-Key"] = name
        if kind == "binding" and verb != "schedule":
            headers.pop("Idempotency-Key", None)
        answer = await self._client.request(method, path, json=body, headers=headers, timeout=None)
        content = answer.json()
        match answer.status_code:
            case 202 if kind == "binding":
                return Lost("it was not over when it was answered")
            case 200 | 201 | 202:
                return Taken(self._facts(kind, verb, content))
            case 404:
                return refusal("absent", content["detail"])
            case 409:
                return refusal("conflict", content["detail"])
            case 412:
                return refusal("token", content["detail"])
            case 503:
                return Lost(content["detail"])
            case _ if any(one in content["detail"] for one in _STOPPED) or self.app._engine is None:
                return Lost(content["detail"])
            case status:
                raise Unexpected(f"{verb} {name}: {status} {content}")

    def _facts(self, kind: str, verb: str, content: Mapping[str, Any]) -> dict[str, Any]:
        match kind, verb:
            case "run", "repeat":
                return {"run": content["id"]}
            case "run", "look":
                over = content["finished"] is not None and content["status"] != "crashed"
                shown = {"over": over, "mark": content["input"]["mark"], "id": content["id"]}
                return shown | ({"status": content["status"]} if over else {})
            case (("run" | "jobs"), "start"):
                return {"id": content["id"], "new": content["new"]}
            case "run", _:
                return {"status": content["status"]}
            case "schedule", "look":
                shown = {"token": content["token"], "paused": content["paused"] is not None, "note": content["notes"]}
                return shown | {"every": interval_of(content["spec"]), "mark": content["input"]["mark"]}
            case "schedule", _:
                return {"token": content["token"]}
            case "journey", "start":
                return {"id": content["journeyId"]}
            case "binding", "schedule":
                return scheduled(content["phase"])
            case "binding", "look":
                return {"open": tuple(one["scheduleId"] for one in content["items"] if one["state"] not in OVER)}
            case "binding", _:
                return {}
            case "journey", "look":
                return seen(content["phase"], content["currentState"])
            case _:
                return {"look": seen(content["phase"], content["currentState"])}

    def run_start(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/jobs/{JOB}/start", {"input": dict(arguments), "id": name}

    def jobs_start(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/jobs/{JOB}/start", {"input": dict(arguments)}

    def run_cancel(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/runs/{name}/cancel", {}

    def run_terminate(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/runs/{name}/terminate", {}

    def run_repeat(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/runs/{name}/retry", {}

    def run_look(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "GET", f"/runs/{name}", None

    def schedule_create(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        body = {"name": name, "action": JOB, "input": {"mark": arguments["mark"]}, "overlap": "allow_all"}
        return "POST", "/schedules", body | {"spec": _spec(arguments["every"])}

    def schedule_pause(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/schedules/{name}/pause", {"note": arguments["note"]}

    def schedule_resume(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        catchup = {"catchup": arguments["catchup"]} if arguments.get("catchup") else {}
        return "POST", f"/schedules/{name}/resume", {"note": arguments["note"], **catchup}

    def schedule_update(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        body = {"spec": _spec(arguments["every"])} if "every" in arguments else {}
        return (
            "PATCH",
            f"/schedules/{name}",
            body | ({"input": {"mark": arguments["mark"]}} if "mark" in arguments else {}),
        )

    def schedule_trigger(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/schedules/{name}/trigger", {"input": {"mark": arguments["mark"]}, "overlap": "allow_all"}

    def schedule_backfill(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        first, last = backfilled(arguments)
        body = {"first": first.isoformat(), "last": last.isoformat(), "overlap": "allow_all"}
        return "POST", f"/schedules/{name}/backfills", body | {"input": {"mark": arguments["mark"]}}

    def schedule_delete(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "DELETE", f"/schedules/{name}", None

    def schedule_look(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "GET", f"/schedules/{name}", None

    def journey_start(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/journeys/{JOURNEY}/start", {}

    def journey_submit(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/journeys/{arguments['id']}/steps/{STEP}", {"mark": arguments["mark"]}

    def journey_cancel(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/journeys/{arguments['id']}/steps/cancel", {}

    def journey_look(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "GET", f"/journeys/{arguments['id']}", None

    def binding_schedule(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/journeys/{DIGEST}/start", {**arguments, "who": name}

    def binding_cancel(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "POST", f"/journey-bindings/{arguments['maker']}/cancel", {}

    def binding_look(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, str, Any]:
        return "GET", f"/journey-bindings?journeyName={DIGEST}&subjectId={name}", None


def _spec(seconds: int) -> dict[str, Any]:
    return {"intervals": [{"every": f"PT{seconds}S"}]}


class _Aborted(Exception):
    def __init__(self, code: grpc.StatusCode, words: str) -> None:
        super().__init__(words)
        self.code = code


class _Context:
    """What a service sees of a call: it comes from this machine, and has no deadline."""

    def invocation_metadata(self) -> tuple[()]:
        return ()

    def peer(self) -> str:
        return "ipv4:127.0.0.1:7"

    def time_remaining(self) -> None:
        return None

    async def abort(self, code: grpc.StatusCode, words: str, _: Any = None) -> None:
        raise _Aborted(code, words)


class WireFace(Face):
    def __init__(self, app: Ostinato) -> None:
        self.app = app
        self._service = WorkflowService(Wire(Door(app, open_on_loopback=True)))

    async def call(self, kind: str, verb: str, name: str, arguments: Mapping[str, Any], key: str | None) -> Answer:
        method, request = getattr(self, f"{kind}_{verb}")(name, arguments)
        request.namespace = self.app.namespace
        if key is not None:
            request.request_id = key
        sent = type(request).FromString(request.SerializeToString())
        try:
            response = await getattr(self._service, method)(sent, _Context())
        except _Aborted as problem:
            return self._refused(f"{verb} {name}", problem)
        return Taken(self._facts(kind, verb, response))

    def _refused(self, what: str, problem: _Aborted) -> Answer:
        code = grpc.StatusCode
        match problem.code:
            case code.NOT_FOUND:
                return refusal("absent", str(problem))
            case code.ALREADY_EXISTS:
                return refusal("conflict", str(problem))
            case code.FAILED_PRECONDITION if "mismatched conflict token" in str(problem):
                return refusal("token", str(problem))
            case code.FAILED_PRECONDITION:
                return refusal("conflict", str(problem))
            case code.UNAVAILABLE:
                return Lost(str(problem))
            case _ if any(one in str(problem) for one in _STOPPED) or self.app._engine is None:
                return Lost(str(problem))
            case other:
                raise Unexpected(f"{what}: {other} {problem}") from problem

    def _facts(self, kind: str, verb: str, response: Any) -> dict[str, Any]:
        match kind, verb:
            case "workflow", "start":
                return {"id": response.run_id, "new": response.started}
            case (("run" | "workflow"), "look"):
                info = response.workflow_execution_info
                statuses = {1: "", 2: "succeeded", 3: "failed", 4: "cancelled", 5: "terminated", 7: "timed_out"}
                status = statuses[info.status]
                shown = {"over": bool(status), "id": info.execution.run_id}
                return shown | ({"status": status} if status else {})
            case "schedule", "look":
                state = response.schedule.state
                spec, action = response.schedule.spec, response.schedule.action.start_workflow
                return {
                    "token": int.from_bytes(response.conflict_token, "little"),
                    "paused": state.paused,
                    "note": state.notes,
                    "every": int(spec.interval[0].interval.seconds),
                    "mark": _mark(action.input),
                }
            case "schedule", "create":
                return {"token": int.from_bytes(response.conflict_token, "little")}
            case _:
                return {}

    def run_cancel(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        execution = WorkflowExecution(workflow_id=name)
        return "RequestCancelWorkflowExecution", RequestCancelWorkflowExecutionRequest(workflow_execution=execution)

    def run_terminate(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        execution = WorkflowExecution(workflow_id=name)
        return "TerminateWorkflowExecution", TerminateWorkflowExecutionRequest(workflow_execution=execution)

    def run_look(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        request = DescribeWorkflowExecutionRequest(execution=WorkflowExecution(workflow_id=name))
        return "DescribeWorkflowExecution", request

    workflow_cancel, workflow_terminate, workflow_look = run_cancel, run_terminate, run_look

    def workflow_start(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        request = StartWorkflowExecutionRequest(
            workflow_id=name,
            workflow_type=WorkflowType(name=JOB),
            task_queue=TaskQueue(name="default"),
            input=Payloads(payloads=[payload_of({"mark": arguments["mark"], "seconds": arguments["seconds"]})]),
            workflow_id_reuse_policy=REUSE[arguments["reuse"]],
            workflow_id_conflict_policy=CONFLICT[arguments["conflict"]],
        )
        return "StartWorkflowExecution", request

    def schedule_create(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        return "CreateSchedule", CreateScheduleRequest(schedule_id=name, schedule=_schedule(name, arguments))

    def schedule_replace(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        schedule = _schedule(name, arguments)
        schedule.state.CopyFrom(ScheduleState(paused=arguments["paused"], notes=arguments["note"]))
        request = UpdateScheduleRequest(schedule_id=name, schedule=schedule)
        if arguments.get("token") is not None:
            request.conflict_token = arguments["token"].to_bytes(8, "little")
        return "UpdateSchedule", request

    def schedule_pause(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        return self._patch(name, SchedulePatch(pause=arguments["note"]))

    def schedule_resume(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        return self._patch(name, SchedulePatch(unpause=arguments["note"]))

    def schedule_trigger(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        trigger = TriggerImmediatelyRequest(overlap_policy=ALLOW_ALL)
        return self._patch(name, SchedulePatch(trigger_immediately=trigger))

    def schedule_backfill(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        first, last = backfilled(arguments)
        asked = BackfillRequest(overlap_policy=ALLOW_ALL)
        asked.start_time.FromDatetime(first)
        asked.end_time.FromDatetime(last)
        return self._patch(name, SchedulePatch(backfill_request=[asked]))

    def _patch(self, name: str, patch: SchedulePatch) -> tuple[str, Any]:
        return "PatchSchedule", PatchScheduleRequest(schedule_id=name, patch=patch)

    def schedule_delete(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        return "DeleteSchedule", DeleteScheduleRequest(schedule_id=name)

    def schedule_look(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        return "DescribeSchedule", DescribeScheduleRequest(schedule_id=name)

    def journey_submit(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        request = SignalWorkflowExecutionRequest(
            workflow_execution=_journey(name),
            signal_name=STEP,
            input=Payloads(payloads=[payload_of({"mark": arguments["mark"]})]),
        )
        return "SignalWorkflowExecution", request

    def journey_cancel(self, name: str, arguments: Mapping[str, Any]) -> tuple[str, Any]:
        request = RequestCancelWorkflowExecutionRequest(workflow_execution=_journey(name))
        return "RequestCancelWorkflowExecution", request


def _journey(name: str) -> WorkflowExecution:
    return WorkflowExecution(workflow_id=f"journey/request:{name}")


def _schedule(name: str, arguments: Mapping[str, Any]) -> Schedule:
    interval = IntervalSpec()
    interval.interval.seconds = arguments["every"]
    action = NewWorkflowExecutionInfo(
        workflow_id=f"{name}-run",
        workflow_type=WorkflowType(name=JOB),
        task_queue=TaskQueue(name="default"),
        input=Payloads(payloads=[payload_of({"mark": arguments["mark"]})]),
    )
    return Schedule(
        spec=ScheduleSpec(interval=[interval]),
        action=ScheduleAction(start_workflow=action),
        policies=SchedulePolicies(overlap_policy=ALLOW_ALL),
    )


def _mark(input: Payloads) -> int:

    return int(orjson.loads(input.payloads[0].data)["mark"])
