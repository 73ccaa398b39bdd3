"""The largest request that each route and each call of Temporal's wire takes, as many streams of events as one
namespace may have, and what they cost the node: the longest that the event loop is held, in CPU time of its thread, and
how much memory is used at the most. One run, one table for each store; it fails beyond 50 ms or 100 MB.

The server is a process of its own that watches its loop: `python -m bench.limits STORE` (the bench starts it).
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import selectors
import socket
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import grpc
from temporalio.api.common.v1 import Payload, Payloads, WorkflowType
from temporalio.api.schedule.v1 import Schedule, ScheduleAction, ScheduleSpec
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflow.v1 import NewWorkflowExecutionInfo
from temporalio.api.workflowservice.v1 import (
    CreateScheduleRequest,
    DescribeScheduleRequest,
    ListScheduleMatchingTimesRequest,
    ListSchedulesRequest,
    ListWorkflowExecutionsRequest,
    StartWorkflowExecutionRequest,
)
from temporalio.api.workflowservice.v1.service_pb2_grpc import WorkflowServiceStub

from bench import stores
from bench.measure import machine, settled, show
from ostinato.faces.http.bodies import LARGEST_FILE
from ostinato.faces.http.events import MOST_STREAMS
from ostinato.when.size_limits import (
    MOST_EXCLUDED_CALENDARS,
    MOST_EXCLUDED_DATES,
    MOST_EXCLUDED_SPANS,
    MOST_SOURCES,
    MOST_TIMES,
)

LONGEST_MS = 50.0
MOST_MB = 100.0
MANY = int(os.environ.get("OSTINATO_BENCH_HEAVY", "200"))  # heavy schedules to list and look through
YEAR = ("2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z")


@dataclass(frozen=True)
class Ask:
    """One request, as large as it may be. `prepared`: it is not measured, it only puts something there."""

    route: str
    what: str
    method: str
    path: str
    body: Any = None
    prepared: bool = False


@dataclass(frozen=True)
class Call:
    """Calls of the wire, or streams: whatever is no single request over HTTP. It returns how that ended."""

    route: str
    what: str
    send: Callable[[Watched], str | int]


def crons(first: int = 0) -> list[str]:
    return [f"{(first + n) % 60} {(first + n) // 60 % 24} * * *" for n in range(MOST_SOURCES)]


def heavy(number: int = 0) -> dict[str, Any]:
    """A spec at its bounds; none is like another, so that none is known already."""
    return {
        "cron": crons(number),
        "times": [f"20{30 + n // 300}-{1 + n // 25 % 12:02}-{1 + n % 25:02}T09:00Z" for n in range(MOST_TIMES)],
        "exclude": {
            "calendars": [{"minute": n, "hour": number % 24} for n in range(MOST_EXCLUDED_CALENDARS)],
            "dates": [f"20{30 + n // 360}-{1 + n // 30 % 12:02}-{1 + n % 28:02}" for n in range(MOST_EXCLUDED_DATES)],
            "spans": [
                [f"20{30 + n // 25}-01-{1 + n % 25:02}T10:00:00Z", f"20{30 + n // 25}-01-{1 + n % 25:02}T11:00:00Z"]
                for n in range(MOST_EXCLUDED_SPANS)
            ],
        },
        "jitter": "5m",
    }  # fmt: skip


def searching() -> dict[str, Any]:
    """A spec whose next time takes as many steps as a search may take."""
    calendars = [
        {"second": "*/2", "month": "*"},
        {"second": "1/2", "month": "1-6"},
        {"second": "1/2", "month": "7-12", "minute": "0-58"},
    ]
    return {"cron": "* * * * * *", "exclude": {"calendars": calendars}}


def journey(states: int) -> str:
    lines = [
        f"    s{n}: {{type: wait, wait: {{channel: manual, input: {{schema: {{type: object}}}}}}, next: s{n + 1}}}\n"
        for n in range(states)
    ]
    head = "apiVersion: v1\nkind: Journey\nmetadata: {name: long, version: 1.0.0}\nspec:\n  start: s0\n  states:\n"
    return f"{head}{''.join(lines)}    s{states}: {{type: succeed}}\n"


def asked() -> Iterator[Ask]:
    draft = {"spec": heavy(), "action": "nothing"}
    secondly = {"spec": {"intervals": [{"every": "1s"}]}, "action": "nothing", "overlap": "allow_all"}
    text = "a" * ((1 << 20) - 100)
    for number in range(MANY):
        body = {"name": f"heavy-{number:04}", "spec": heavy(number), "action": "nothing", "paused": number % 2 == 1}
        yield Ask("", "", "POST", "/schedules", body, prepared=True)
    yield Ask("POST /schedules", "a spec at every bound", "POST", "/schedules", {"name": "one", **draft})
    yield Ask(
        "POST /schedules",
        "2 MB of crons (refused)",
        "POST",
        "/schedules",
        {**draft, "name": "two", "spec": {"cron": crons() * 1000}},
    )
    yield Ask(
        "POST /schedules",
        "1 MiB of input",
        "POST",
        "/schedules",
        {"name": "three", "spec": "0 9 * * *", "action": "nothing", "input": {"text": text}},
    )
    yield Ask("PUT /schedules/{name}", "a spec at every bound", "PUT", "/schedules/one", draft)
    yield Ask("PATCH /schedules/{name}", "a spec at every bound", "PATCH", "/schedules/one", {"spec": heavy(7)})
    yield Ask(
        "PATCH /schedules/{name}", "a search to its end (refused)", "PATCH", "/schedules/one", {"spec": searching()}
    )
    yield Ask("GET /schedules", f"{MANY} specs at every bound", "GET", "/schedules?limit=1000")
    yield Ask("GET /schedules/{name}", "a spec at every bound", "GET", "/schedules/heavy-0001?recent=1000")
    yield Ask("GET /schedules:export", f"{MANY} specs at every bound", "GET", "/schedules:export?limit=1000")
    yield Ask("GET /upcoming", f"1,000 of {MANY} specs at every bound", "GET", "/upcoming?limit=1000")
    yield Ask(
        "GET /schedules/{name}/times",
        "1,000 of a spec at every bound",
        "GET",
        "/schedules/heavy-0003/times?first=2026-01-01T00:00:00Z&last=2100-01-01T00:00:00Z",
    )
    yield Ask(
        "GET /schedules/{name}/explain",
        "a spec at every bound",
        "GET",
        "/schedules/heavy-0003/explain?at=2026-12-01T09:00:00Z",
    )
    yield Ask("", "", "GET", "/metrics", prepared=True)  # what it loads, it loads once
    yield Ask("GET /metrics", f"{MANY} specs at every bound", "GET", "/metrics")
    period = {"first": "2026-01-01T00:00:00Z", "last": "2026-01-02T03:46:00Z"}
    yield Ask("POST /simulate", "99,960 occurrences", "POST", "/simulate", {"draft": secondly, **period})
    yield Ask(
        "POST /simulate",
        "the same, runs of 30 years (refused)",
        "POST",
        "/simulate",
        {"draft": secondly, **period, "run_time": 1e9},
    )
    yield Ask(
        "POST /simulate",
        "a year of a spec at every bound",
        "POST",
        "/simulate",
        {"draft": draft, "first": YEAR[0], "last": YEAR[1]},
    )
    yield Ask("POST /simulate.svg", "99,960 occurrences", "POST", "/simulate.svg", {"draft": secondly, **period})
    yield Ask(
        "POST /schedules/{name}/backfill",
        "a century",
        "POST",
        "/schedules/one/backfills",
        # In the past, because one that is to come is refused uncounted. A fast machine counts it to the end and takes
        # it, so it must start hardly any run.
        {"first": "1926-01-01T00:00:00Z", "last": "2026-01-01T00:00:00Z", "rate": 0.001},
    )
    files = {f"s{n:05}": {"spec": "0 9 * * *", "action": "nothing"} for n in range(1_000)}
    yield Ask(
        "POST /schedules:plan",
        "1,000 schedules as JSON",
        "POST",
        "/schedules:plan",
        {"schedules": files, "name": "f", "file": "f.json"},
    )
    junk = "schedules:\n" + "".join(
        f"  s{n}: {{spec: '0 9 * * *', action: nothing}}\n" for n in range(LARGEST_FILE // 60)
    )
    yield Ask(
        "POST /schedules:plan",
        f"{LARGEST_FILE >> 20} MB of YAML (ended)",
        "POST",
        "/schedules:plan",
        {"text": junk, "name": "f", "file": "f.yaml"},
    )
    yield Ask(
        "POST /schedules:apply",
        "1,000 schedules as JSON",
        "POST",
        "/schedules:apply",
        {"schedules": files, "name": "f", "file": "f.json"},
    )
    yield Ask("POST /jobs/{name}/start", "1 MiB of input", "POST", "/jobs/nothing/start", {"input": {"text": text}})
    yield Ask(
        "POST /jobs/{name}/start-many",
        "1,000 inputs",
        "POST",
        "/jobs/nothing/start-many",
        {"inputs": [{"text": "a" * 1_500}] * 1_000},
    )
    for number in range(30):
        yield Ask("", "", "POST", "/jobs/nothing/start", {"input": {"text": f"{number}" + text[:-10]}}, prepared=True)
    yield Ask("GET /runs", "1,000, of them 31 of 1 MiB", "GET", "/runs?limit=1000")
    yield Ask("GET /events", "1,000", "GET", "/events?limit=1000")
    yield Ask(
        "POST /journey-definitions:validate",
        "400 states",
        "POST",
        "/journey-definitions:validate",
        {"text": journey(400)},
    )
    yield Ask(
        "POST /journey-definitions:validate",
        "2 MB (refused)",
        "POST",
        "/journey-definitions:validate",
        {"text": text * 2},
    )
    yield Ask(
        "POST /webhooks",
        "2 MB of patterns",
        "POST",
        "/webhooks",
        {"url": "https://example.com/in", "events": ["run:*"] * 100_000},
    )
    yield Ask("POST /diagnosis", "all of the above", "POST", "/diagnosis", {})


# Temporal's wire


def wire(method: str, *requests: Any) -> Callable[[Watched], str]:
    """These calls, up to 50 at once; all must end alike."""

    def send(server: Watched) -> str:
        options = [("grpc.max_receive_message_length", 64 << 20)]
        with grpc.insecure_channel(f"127.0.0.1:{server.wire}", options) as channel, ThreadPoolExecutor(50) as callers:
            call = getattr(WorkflowServiceStub(channel), method)
            return " ".join(sorted(set(callers.map(lambda request: _status(call, request), requests))))

    return send


def _status(call: Any, request: Any) -> str:
    try:
        call(request, timeout=120)
    except grpc.RpcError as refused:
        return str(refused.code().name)
    return "OK"


def start(number: int, size: int = 10) -> StartWorkflowExecutionRequest:
    data = json.dumps({"text": "a" * size}).encode()
    return StartWorkflowExecutionRequest(
        namespace="default",
        workflow_id=f"wire-{number}",
        workflow_type=WorkflowType(name="nothing"),
        task_queue=TaskQueue(name="default"),
        input=Payloads(payloads=[Payload(metadata={"encoding": b"json/plain"}, data=data)]),
        request_id=f"wire-{number}",
    )


def scheduled(name: str, crons: list[str]) -> CreateScheduleRequest:
    workflow = NewWorkflowExecutionInfo(
        workflow_id=name, workflow_type=WorkflowType(name="nothing"), task_queue=TaskQueue(name="default")
    )
    schedule = Schedule(spec=ScheduleSpec(cron_string=crons), action=ScheduleAction(start_workflow=workflow))
    return CreateScheduleRequest(namespace="default", schedule_id=name, schedule=schedule, request_id=name)


def called() -> Iterator[Call]:
    yield Call("CreateSchedule", f"{MOST_SOURCES} crons", wire("CreateSchedule", scheduled("w1", crons())))
    large = wire("CreateSchedule", scheduled("w2", crons() * 2500))
    yield Call("CreateSchedule", "4 MB of crons (refused)", large)
    describe = DescribeScheduleRequest(namespace="default", schedule_id="w1")
    yield Call("DescribeSchedule", f"{MOST_SOURCES} crons", wire("DescribeSchedule", describe))
    some = ListSchedulesRequest(namespace="default", maximum_page_size=1000)
    yield Call("ListSchedules", f"1,000, of them {MANY} specs at every bound", wire("ListSchedules", some))
    century = ListScheduleMatchingTimesRequest(namespace="default", schedule_id="heavy-0003")
    century.start_time.FromJsonString("2026-01-01T00:00:00Z")
    century.end_time.FromJsonString("2100-01-01T00:00:00Z")
    yield Call("ListScheduleMatchingTimes", "a century", wire("ListScheduleMatchingTimes", century))
    yield Call("StartWorkflowExecution", "1 MiB of input", wire("StartWorkflowExecution", start(0, (1 << 20) - 100)))
    yield Call("StartWorkflowExecution", "5 MB (refused)", wire("StartWorkflowExecution", start(1, 5 << 20)))
    many = wire("StartWorkflowExecution", *[start(number) for number in range(10, 1_010)])
    yield Call("StartWorkflowExecution", "1,000 calls, 50 at once", many)
    runs = ListWorkflowExecutionsRequest(namespace="default", page_size=1000)
    yield Call("ListWorkflowExecutions", "1,000", wire("ListWorkflowExecutions", runs))


# Streams of events


def streamed() -> Iterator[Call]:
    route = "GET /events/stream"
    yield Call(route, f"{MOST_STREAMS} streams, from the first event on", lambda server: follow(server, "?after=0"))
    yield Call(route, f"{MOST_STREAMS} streams, while 1,000 runs start", follow_starts)


def follow_starts(server: Watched) -> int:
    body = {"inputs": [{"text": "streamed"}] * 1_000}
    ask = Ask("", "", "POST", "/jobs/nothing/start-many", body)
    return follow(server, "", lambda: send(server.port, ask))


def follow(server: Watched, query: str, then: Callable[[], object] = lambda: None) -> int:
    """Open as many streams as there may be, do something, and read them all up to the last event. Return the worst
    status of them."""
    head = f"GET /api/v1/events/stream{query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    lines = [socket.create_connection(("127.0.0.1", server.port), timeout=120) for _ in range(MOST_STREAMS)]
    try:
        statuses = []
        for line in lines:
            line.sendall(head)
        for line in lines:
            statuses.append(int(line.recv(1 << 16).split(maxsplit=2)[1]))
        then()
        read_until_event(lines, last_event(server.port))
        return max(statuses)
    finally:
        for line in lines:
            line.close()


def last_event(port: int) -> int:
    """The number of the last event, once no more come."""
    last = -1
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/events?newest=true&limit=1", timeout=60) as answer:
            seq = int(json.loads(answer.read())["items"][-1]["seq"])
        if seq == last:
            return seq
        last = seq
        time.sleep(1.0)


def read_until_event(lines: list[socket.socket], last: int) -> None:
    tails = dict.fromkeys(lines, b"")
    with selectors.DefaultSelector() as ready:
        for line in lines:
            line.setblocking(False)
            ready.register(line, selectors.EVENT_READ)
        while tails:
            for key, _ in ready.select(120):
                stream: Any = key.fileobj
                some = tails[stream] + stream.recv(1 << 20)
                tails[stream] = some[-4096:]
                if f"id: {last}\n".encode() in some:
                    ready.unregister(stream)
                    del tails[stream]


class Watched:
    """The server: its ports on the first line it says; then a line for each line it reads."""

    def __init__(self, store: str) -> None:
        self._process = Popen([sys.executable, "-m", "bench.limits", store], stdin=PIPE, stdout=PIPE, text=True)
        self.port, self.wire = map(int, self._line().split())

    def begin(self) -> None:
        self._tell("begin")

    def end(self) -> tuple[float, float, float]:
        """Since `begin`: the longest hold and the longest garbage collection, in ms, and the memory in MB."""
        held, collecting, memory = map(float, self._tell("end").split())
        return held, collecting, memory

    def _tell(self, word: str) -> str:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        return self._line()

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def stop(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def send(port: int, ask: Ask) -> int:
    body = None if ask.body is None else json.dumps(ask.body).encode()
    headers = {"Content-Type": "application/json"} if body is not None else {}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1{ask.path}", body, headers, method=ask.method
    )  # fmt: skip
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            answer.read()
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        refused.read()
        return refused.code


def main() -> bool:
    show("limits: the largest requests, the longest hold of the loop (CPU), the memory they take")
    show(machine("fastapi", "uvicorn", "grpcio", "asyncpg"))
    with stores.sqlite() as fresh:
        good = measure("SQLite", fresh())
    with stores.postgres() as fresh:
        return measure("PostgreSQL", fresh()) and good


def measure(name: str, store: str) -> bool:
    show(
        f"\n{name}\n\n| route | largest request | answer | seconds | loop held, ms | collector, ms | memory, MB |"
        "\n|---|---|---|---|---|---|---|"
    )
    server = Watched(store)
    asks: list[Ask | Call] = [*asked(), *called(), *streamed()]
    good = [fine for one in asks if (fine := judge(server, one)) is not None]
    server.stop()
    return all(good)


def judge(server: Watched, call: Ask | Call) -> bool | None:
    """Send it, show what it cost, and return whether that is within the bars; None for what only prepares."""
    if isinstance(call, Ask) and call.prepared:
        send(server.port, call)
        return None
    server.begin()
    began = time.perf_counter()
    status = send(server.port, call) if isinstance(call, Ask) else call.send(server)
    seconds = time.perf_counter() - began
    held, collecting, memory = server.end()
    failed = status >= 500 if isinstance(status, int) else status in ("INTERNAL", "UNKNOWN")
    fine = held <= LONGEST_MS and collecting <= LONGEST_MS and memory <= MOST_MB and not failed
    mark = "" if fine else " **beyond**"
    show(
        f"| `{call.route}` | {call.what} | {status} | {seconds:.2f} | {held:.0f}{mark} "
        f"| {collecting:.0f} | {memory:.0f} |"
    )
    return fine


# The process of the server


def memory_mb(name: str) -> float:
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    return 0.0


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


class Watch:
    """The longest that the loop's thread worked between two looks at what has come in."""

    def __init__(self, loop: Any) -> None:
        self.longest = 0.0
        self.collecting = 0.0  # of that, the longest pause of the garbage collector
        self._collecting = 0.0
        self._began = 0.0
        gc.callbacks.append(self._collected)
        selector = loop._selector
        self._select = selector.select
        self._since = time.thread_time()
        selector.select = self._watched

    def _watched(self, timeout: float | None = None) -> Any:
        self.longest = max(self.longest, time.thread_time() - self._since - self._collecting)
        self.collecting = max(self.collecting, self._collecting)
        ready = self._select(timeout)
        self._since, self._collecting = time.thread_time(), 0.0
        return ready

    def _collected(self, phase: str, _: dict[str, int]) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        if phase == "start":
            self._began = time.thread_time()
        else:
            self._collecting += time.thread_time() - self._began


async def serve(store: str) -> None:
    from ostinato import Ostinato
    from ostinato.faces.auth import Door
    from ostinato.faces.http.server import Listening, api, make_server
    from ostinato.faces.temporal.server import WireServer

    app = Ostinato(store)

    @app.job()
    async def nothing(text: str = "") -> None:
        pass

    loop = asyncio.get_running_loop()
    wire = WireServer(Door(app, open_on_loopback=True), Listening(port=0))
    async with app, wire.serving():
        server = make_server(api(app), Listening(port=0))
        serving = asyncio.create_task(server.serve())
        while not server.started:
            await asyncio.sleep(0.01)
        watch = Watch(loop)
        settled()
        show(f"{server.servers[0].sockets[0].getsockname()[1]} {wire.port}")
        before = memory_mb("VmRSS")
        while word := await loop.run_in_executor(None, sys.stdin.readline):
            if word.strip() == "begin":
                forget_peak()
                watch.longest, watch.collecting, before = 0.0, 0.0, memory_mb("VmRSS")
                show("begun")
            else:
                memory = max(0.0, memory_mb("VmHWM") - before)
                show(f"{watch.longest * 1000} {watch.collecting * 1000} {memory}")
        server.should_exit = True
        await serving


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
