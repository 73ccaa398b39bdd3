"""A test whose code ignores its cancellation fails with the place of that code, and does not hang."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import pytest

from ostinato.testing import Stuck, run_virtual


async def stubborn() -> None:
    while True:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(10)


def test_code_that_ignores_its_cancellation_is_named() -> None:
    async def main() -> None:
        asyncio.get_running_loop().create_task(stubborn())
        await asyncio.sleep(30)

    with pytest.raises(Stuck, match=r"ignores its cancellation, so the test cannot end: .*:\d+ in stubborn"):
        run_virtual(main())


def test_code_that_cleans_up_when_it_is_cancelled_may_take_its_time() -> None:
    cleaned: list[int] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(3600)
        finally:
            await asyncio.sleep(5)
            cleaned.append(1)

    async def main() -> None:
        asyncio.get_running_loop().create_task(slow())
        await asyncio.sleep(1)

    run_virtual(main())
    assert cleaned == [1]
