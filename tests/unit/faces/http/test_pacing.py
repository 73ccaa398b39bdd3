"""Requests that arrive together begin a few at a time."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

from ostinato.faces.http.pacing import MOST_AT_ONCE, Pacing

REQUEST = {"type": "http"}


class Served:
    """An application that notes the pass of the event loop in which each request began."""

    def __init__(self) -> None:
        self.begun: list[tuple[int, int]] = []
        self._pass = 0
        selector: Any = asyncio.get_running_loop()._selector  # type: ignore[attr-defined]
        self._select, selector.select = selector.select, self._count

    def _count(self, timeout: float | None = None) -> Any:
        self._pass += 1
        return self._select(timeout)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.begun.append((self._pass, scope["number"]))


def test_requests_that_arrive_together_begin_a_few_in_each_pass_of_the_loop() -> None:
    async def main() -> None:
        served = Served()
        paced = Pacing(served)
        arrived = [asyncio.create_task(paced({**REQUEST, "number": n}, None, None)) for n in range(95)]  # type: ignore[arg-type]
        await asyncio.gather(*arrived)
        assert [number for _, number in served.begun] == list(range(95))
        passes = Counter(number for number, _ in served.begun)
        assert max(passes.values()) == MOST_AT_ONCE
        assert len(passes) == 10

    asyncio.run(main())


def test_a_request_that_is_given_up_while_it_waits_takes_nobodys_turn() -> None:
    async def main() -> None:
        served = Served()
        paced = Pacing(served)
        arrived = [asyncio.create_task(paced({**REQUEST, "number": n}, None, None)) for n in range(40)]  # type: ignore[arg-type]
        await asyncio.sleep(0)
        for task in arrived[MOST_AT_ONCE:25]:
            task.cancel()
        await asyncio.gather(*arrived, return_exceptions=True)
        assert [number for _, number in served.begun] == [*range(MOST_AT_ONCE), *range(25, 40)]
        await asyncio.wait_for(paced({**REQUEST, "number": 40}, None, None), 1)  # type: ignore[arg-type]

    asyncio.run(main())
