"""Calls to the outside on virtual time: while one is under way, the clock stands."""

from __future__ import annotations

import asyncio
import ssl
import threading
from typing import Any

from ostinato.engine.egress import Answer, Egress, EgressTimedOut
from ostinato.testing.virtual import VirtualLoop

_GIVEN_S = 30.0  # the default of `Egress.request`


class StillEgress(Egress):
    """Makes real calls, which take no virtual time.

    A service that has not answered within the call's timeout, in real time, has timed out: then that much virtual time
    has passed.
    """

    def __init__(self, egress: Egress) -> None:
        super().__init__(egress.policy)
        self._egress = egress

    def with_tls(self, tls: ssl.SSLContext) -> Egress:
        return StillEgress(self._egress.with_tls(tls))

    async def request(self, method: str, url: str, **options: Any) -> Answer:
        loop = asyncio.get_running_loop()
        if not isinstance(loop, VirtualLoop):
            return await self._egress.request(method, url, **options)
        timeout = float(options.get("timeout", _GIVEN_S))
        with loop.standing_still():
            call = asyncio.ensure_future(self._egress.request(method, url, **options))
            late = threading.Event()

            def give_up() -> None:
                late.set()
                loop.call_soon_threadsafe(call.cancel)

            timer = threading.Timer(timeout, give_up)
            timer.daemon = True
            timer.start()
            try:
                return await call
            except asyncio.CancelledError:
                if not late.is_set():
                    call.cancel()
                    raise
            finally:
                timer.cancel()
        await asyncio.sleep(timeout)
        raise EgressTimedOut(f"no whole answer within {timeout:g} s")
