"""Random clients on one node and on several, through every face, with everything that can go wrong: each acknowledged
call took effect once, each refused one not at all."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable
from functools import partial

import pytest

from ostinato.store.contract import Operation, sql
from ostinato.store.urls import open_url
from tests.histories.generate import Plan, plan_of
from tests.histories.judge import judge, report, shortest
from tests.histories.network import sever
from tests.histories.playing import on_postgres, on_sqlite
from tests.histories.run import History

_ALONE = os.environ.get("OSTINATO_SEED")


def run_seeds(seeds: Iterable[int], run: Callable[[Plan], History], where: str) -> None:
    """Run the plans of these seeds. The first that shows something wrong is made shorter, and reported."""
    played = open_questions = 0
    for seed in seeds if _ALONE is None else [int(_ALONE)]:
        plan = plan_of(seed)
        try:
            findings, undecided = judge(run(plan))
        except Exception as problem:  # a call that is never answered, for instance
            raise AssertionError(f"{plan}\nplay it again with OSTINATO_SEED={seed}, -k {where!r}") from problem
        played += 1
        open_questions += undecided
        if findings:
            pytest.fail(report(*shortest(plan, run, findings[0]), where), pytrace=False)
    assert open_questions <= 1 + played // 20, f"{open_questions} objects of {played} histories have too many orders"


@pytest.mark.parametrize("part", range(8))
def test_histories_have_an_order_on_sqlite(part: int) -> None:
    run_seeds(range(part * 25, part * 25 + 25), on_sqlite, "sqlite")


@pytest.mark.parametrize("part", range(3))
def test_histories_have_an_order_on_postgres(postgres_url: str, part: int) -> None:
    run_seeds(range(5_000 + part * 8, 5_008 + part * 8), partial(on_postgres, postgres_url), "postgres")


def test_a_severed_connection_is_a_real_one_and_the_store_tries_again(postgres_url: str) -> None:
    tries: list[int] = []

    def read_twice(number: int) -> Operation[int]:
        tries.append(number)
        first = yield sql("list_nodes")
        second = yield sql("list_nodes")
        return len(first) + len(second)

    async def main() -> int:
        store = open_url(postgres_url)
        await store.open()
        try:
            return await store.run(sever(read_twice, at=2))
        finally:
            await store.close()

    assert asyncio.run(main()) == 0
    assert tries == [0, 1]


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(2))
def test_many_histories_have_an_order_on_sqlite(part: int) -> None:
    count = int(os.environ.get("OSTINATO_SOAK_SEEDS", "20000")) // 2
    run_seeds(range(10_000 + part * count, 10_000 + (part + 1) * count), on_sqlite, "many and sqlite")


@pytest.mark.soak
@pytest.mark.timeout(7200)
def test_many_histories_have_an_order_on_postgres(postgres_url: str) -> None:
    count = int(os.environ.get("OSTINATO_SOAK_SEEDS", "20000")) // 10
    run_seeds(range(100_000, 100_000 + count), partial(on_postgres, postgres_url), "many and postgres")
