"""The worker's loop: load one language, lock the door, then answer batches until the pipe ends.

Locking the door is what holds whatever the language's own sandbox lets through: no descriptor can be opened any more
(so no file, no socket, no pipe), memory is bounded, and an alarm ends the process if an evaluation outlives its time,
whether or not anyone still watches from outside. The environment was empty from the beginning.
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
from ostinato.journeys.expressions.sandbox.runner import Answer, Request, Runner, alarm

_BIGGEST = 64 << 20
_GATHER_S = 0.02  # callers who get their answers together ask together again, which makes for large batches
CHECK_GRACE = 4.0  # compiling is not under the language's own time limit


def main(language: str, memory: int) -> None:
    pipe = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints must not get between the messages
    os.environ.clear()  # what the interpreter itself put into it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    # Not in the main thread: to learn its bounds, the C library would open a file each time DataWeave enters it.
    thread = threading.Thread(target=_work, args=(language, memory, pipe), daemon=True)
    thread.start()
    thread.join()
    os._exit(0)  # nothing to wind up, and a language must not hold us up


def _work(language: str, memory: int, pipe: int) -> None:
    def say(*messages: bytes) -> None:
        frames.write(pipe, b"".join(map(frames.framed, messages)))

    try:
        runner = _load(language)
        lock_the_door(memory)
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
        traceback.print_exc()  # the last words; who reads them blames no one or the right one, and starts another


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


def lock_the_door(memory: int) -> None:
    import resource

    limits = {
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_FSIZE: 64 << 10,  # its last words, in a file that it was given
        resource.RLIMIT_NOFILE: 0,
    }
    for limit, most in limits.items():
        _, allowed = resource.getrlimit(limit)
        bound = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(limit, (bound, bound))


def _serve(runner: Runner, message: bytes, say: Callable[..., None]) -> None:
    batch = json.loads(message)  # by the slower one: orjson does not say so when memory ends, it crashes
    requests = [
        Request(at, given["expr"], given["bindings"], given["deadline"], given.get("now"))
        for at, given in enumerate(batch["requests"])
    ]

    apart = batch.get("apart", False)  # each is evaluated and answered by itself, in order
    ready: list[bytes] = []
    since = time.monotonic()

    def answer(given: Answer) -> None:
        nonlocal since
        ready.append(given.encoded(batch["most"]))
        signal.setitimer(signal.ITIMER_REAL, 0)
        now = time.monotonic()
        if apart or now - since > _GATHER_S:  # quick ones go together; none waits for more than one other
            say(*ready)
            ready.clear()
            since = now

    if batch["kind"] == "check":
        for request in requests:
            alarm(request.deadline + CHECK_GRACE)
            answer(Answer(request.at, value=runner.check(request)))
    elif apart:
        for request in requests:
            runner.evaluate([request], batch["most"], answer)
    else:
        runner.evaluate(requests, batch["most"], answer)
    if ready:
        say(*ready)
