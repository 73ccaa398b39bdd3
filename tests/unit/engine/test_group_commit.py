"""`Committer` answers every write, also those that it is stopped in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from ostinato.engine.group_commit import Committer
from ostinato.errors import StoreUnavailable


def test_a_stop_answers_the_write_in_progress_the_queued_one_and_later_ones() -> None:
    async def main() -> None:
        begun = asyncio.Event()

        async def commit(items: Sequence[str]) -> list[str]:
            begun.set()
            await asyncio.Event().wait()  # a store that does not answer
            return list(items)

        committer: Committer[str, str] = Committer(commit, lambda _: None)
        committer.start()
        first = asyncio.create_task(committer.write("first"))
        await begun.wait()
        second = asyncio.create_task(committer.write("second"))
        await asyncio.sleep(0)
        assert committer.uncommitted == 2
        await committer.stop()
        with pytest.raises(StoreUnavailable, match="it may be written or not"):
            await first
        with pytest.raises(StoreUnavailable, match="before this was written"):
            await second
        with pytest.raises(StoreUnavailable, match="is closed, so this was not written"):
            await committer.write("third")
        assert committer.uncommitted == 0

    asyncio.run(asyncio.wait_for(main(), 10))
