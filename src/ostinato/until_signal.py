"""Running until Ctrl-C or SIGTERM, and ending in time: a thread that nobody can stop does not keep the process."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

from ostinato.engine.executor import THREAD_NAMES
from ostinato.engine.log import log

_LAST_WAIT = 3.0  # seconds for threads to end once the work is over
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_signal(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]], seconds: float = 0) -> None:
    """Run `work` on a loop of its own; the event that it is given is set by the first signal, or after `seconds`, if
    any. A second signal ends the process, whatever its threads do. So does, with exit code 0, the end of the work, if
    threads are still in jobs a little later: those runs are another node's by then."""
    before = {name: signal.getsignal(name) for name in _SIGNALS}
    overdue = threading.Timer(_LAST_WAIT, _end_process)
    overdue.daemon = True

    async def run() -> None:
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end() -> None:
            stop.set()
            for name in _SIGNALS:
                loop.remove_signal_handler(name)
                signal.signal(name, signal.SIG_DFL)

        for name in _SIGNALS:
            loop.add_signal_handler(name, end)
        if seconds:
            loop.call_later(seconds, stop.set)
        await work(stop)
        overdue.start()  # the loop waits for threads that jobs have begun with `asyncio.to_thread`

    asyncio.run(run())
    deadline = time.monotonic() + _LAST_WAIT
    for thread in threading.enumerate():
        if thread.name.startswith(THREAD_NAMES):
            thread.join(max(0.0, deadline - time.monotonic()))
            if thread.is_alive():
                _end_process()
    overdue.cancel()
    for name, handler in before.items():
        signal.signal(name, handler)


def _end_process() -> None:
    log.warning("threads are still in jobs, and end with this process", action="threads_ended")
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)
