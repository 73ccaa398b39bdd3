"""Run an app until Ctrl-C or SIGTERM, and let the process end soon after that, even if a thread cannot be stopped."""

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

_LAST_WAIT = 0.5  # seconds for idle threads to end; runs in other threads have been handed to other nodes
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def run_until_signal(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run `work(event)` on a new event loop until `work` ends. The first Ctrl-C or SIGTERM sets the event, so that
    `work` can end by itself. A second signal ends the process at once.

    If threads of jobs still run shortly after `work` has ended, the process ends anyway, with exit code 0. The runs in
    these threads have already been handed to other nodes.
    """
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
        await work(stop)
        overdue.start()  # the loop waits for threads that jobs have started with `asyncio.to_thread`

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
    log.warning("job threads are still running, and end with this process", action="threads_ended")
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0)
