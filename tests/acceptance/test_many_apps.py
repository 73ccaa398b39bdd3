"""Many apps on one store at once."""

from __future__ import annotations

import asyncio

from ostinato import Ostinato


def test_keys_hold_with_several_claimers(store_url: str) -> None:
    """Random, blocked and hot keys, three nodes: no overlap, no inversion, nothing left in line."""
    running: dict[str, int] = {}
    order: dict[str, list[int]] = {}

    def build() -> Ostinato:
        app = Ostinato(store_url, concurrency=30)

        @app.job(serial_key="{key}")
        async def work(key: str, n: int) -> None:
            running[key] = running.get(key, 0) + 1
            assert running[key] == 1, f"two runs of {key} at once"
            order.setdefault(key, []).append(n)
            await asyncio.sleep(0)
            running[key] -= 1

        return app

    async def main() -> None:
        import random

        dice = random.Random(5)
        keys = [str(dice.randrange(100)) for _ in range(500)]
        keys += [f"block{n // 20}" for n in range(300)]
        keys += ["hot" if dice.random() < 0.5 else str(dice.randrange(20)) for _ in range(400)]
        apps = [build() for _ in range(3)]
        async with apps[0], apps[1], apps[2]:
            inputs = [{"key": key, "n": n} for n, key in enumerate(keys)]
            for begin in range(0, len(inputs), 100):
                await apps[begin // 100 % 3].start_many("work", inputs[begin : begin + 100])
            async with asyncio.timeout(90):
                while sum(map(len, order.values())) < len(keys):
                    await asyncio.sleep(0.05)
                while set(await apps[0].counts()) != {"succeeded"}:
                    await asyncio.sleep(0.05)
            assert await apps[0].counts() == {"succeeded": len(keys)}
            assert await apps[0].check(repair=False) == []
        assert all(numbers == sorted(numbers) for numbers in order.values())

    asyncio.run(main())


def test_many_web_workers_start_the_same_thing_once(store_url: str) -> None:
    """What an embedded app does at start-up in each of many workers happens once."""

    async def main() -> None:
        calls: list[int] = []

        def build() -> Ostinato:
            app = Ostinato(store_url)

            @app.job()
            async def once_only() -> None:
                calls.append(1)

            return app

        async def worker() -> bool:
            app = build()
            async with app:
                run = await app.start("once_only", id="at start-up")
                await run.result(timeout=30)
                return run.new

        assert sorted(await asyncio.gather(*(worker() for _ in range(5)))) == [False] * 4 + [True]
        assert calls == [1]

    asyncio.run(main())
