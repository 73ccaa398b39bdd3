"""This program runs in a child process and calls functions for callers, one after another. An alarm ends the process
when a function has used up its CPU time. The process also ends when its connection is closed."""

from __future__ import annotations

import os
import pickle
import resource
import signal
from multiprocessing.connection import Connection
from typing import Any

from ostinato.engine.computing import LARGEST_ANSWER, TooMuch

_NICE = 10  # the node has priority over computations for callers


def main(line: int, seconds: float, memory: int) -> None:
    os.nice(_NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    for limit, most in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        _, allowed = resource.getrlimit(limit)
        bound = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(limit, (bound, bound))
    connection: Connection[Any, Any] = Connection(line)
    connection.send_bytes(b"ready")
    while True:
        try:
            request = connection.recv_bytes()
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = _answer(request)
        signal.setitimer(signal.ITIMER_PROF, 0)
        connection.send_bytes(answer)


def _answer(request: bytes) -> bytes:
    try:
        function, args = pickle.loads(request)
        answer = pickle.dumps((False, function(*args)))
        if len(answer) <= LARGEST_ANSWER:
            return answer
        problem: Exception = TooMuch(f"the answer has more than {LARGEST_ANSWER:,} bytes; ask for less")
    except MemoryError:
        problem = TooMuch("this took more memory than it may have; ask for less")
    except Exception as raised:
        problem = raised
    return pickle.dumps((True, (type(problem), problem.args, problem.__dict__)))
