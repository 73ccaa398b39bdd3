"""Run a worker process. It loads one language, restricts the process, and answers batches until the pipe closes.

The restrictions hold even if the language's own sandbox fails: the process cannot open files, sockets or pipes, and its
memory and time are limited.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable

import orjson

from ostinato.journeys.expressions import frames
from ostinato.journeys.expressions.sandbox.runner import Runner, SandboxAnswer, SandboxRequest, alarm

_BIGGEST = 64 << 20
_GATHER_S = 0.02  # answers are collected this long: callers that get them together send the next requests together
CHECK_GRACE = 4.0  # compiling is not covered by the language's own time limit


def main(language: str, memory: int) -> None:
    pipe = os.dup(1)
    os.dup2(2, 1)  # output of libraries must not mix with the messages
    os.environ.clear()  # remove what the interpreter itself set
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    # Not in the main thread: there the C library would open a file each time DataWeave asks for the stack's bounds.
    thread = threading.Thread(target=_work, args=(language, memory, pipe), daemon=True)
    thread.start()
    thread.join()
    os._exit(0)  # exit at once, without cleaning up


def _work(language: str, memory: int, pipe: int) -> None:
    def say(*messages: bytes) -> None:
        frames.write(pipe, b"".join(map(frames.framed, messages)))

    try:
        runner = _load(language)
        restrict_process(memory)
    except Exception as problem:
        say(orjson.dumps({"problem": f"{type(problem).__name__}: {problem}"}))
        return
    say(b"{}")
    requests = frames.Reader(0, _BIGGEST)
    try:
        while True:
            _serve(runner, requests.read(), say)
    except frames.Gone:
        return
    except Exception:
        traceback.print_exc()  # the parent reads this to find the cause, and starts another worker


def _load(language: str) -> Runner:
    match language:
        case "dataweave":
            from ostinato.journeys.expressions.sandbox.dataweave_runner import DataWeaveRunner

            return DataWeaveRunner()
        case "jq":
            from ostinato.journeys.expressions.sandbox.jq_runner import JqRunner

            return JqRunner()
        case "jsonata":
            from ostinato.journeys.expressions.sandbox.jsonata_runner import JsonataRunner

            return JsonataRunner()
    raise ValueError(f"there is no language {language!r}")


def restrict_process(memory: int) -> None:
    import resource

    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 64 << 10,  # for its error output, in a file that the parent opened
        resource.RLIMIT_NOFILE: 0,
    }
    for limit, most in limits.items():
        _, allowed = resource.getrlimit(limit)
        bound = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(limit, (bound, bound))


def _serve(runner: Runner, message: bytes, say: Callable[..., None]) -> None:
    batch = json.loads(message)  # not orjson, which crashes when memory runs out
    requests = [
        SandboxRequest(at, request["expr"], request["bindings"], request["deadline"], request.get("now"))
        for at, request in enumerate(batch["requests"])
    ]

    apart = batch.get("apart", False)  # evaluate and answer each request separately, in order
    ready: list[bytes] = []
    since = time.monotonic()

    def answer(result: SandboxAnswer) -> None:
        nonlocal since
        ready.append(result.encoded(batch["most"]))
        signal.setitimer(signal.ITIMER_REAL, 0)
        now = time.monotonic()
        if apart or now - since > _GATHER_S:  # an answer waits at most this long and one more evaluation
            say(*ready)
            ready.clear()
            since = now

    if batch["kind"] == "check":
        for request in requests:
            alarm(request.deadline + CHECK_GRACE)
            answer(SandboxAnswer(request.at, value=runner.check(request)))
    elif apart:
        for request in requests:
            runner.evaluate([request], batch["most"], answer)
    else:
        runner.evaluate(requests, batch["most"], answer)
    if ready:
        say(*ready)
