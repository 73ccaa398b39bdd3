"""A user's own type checker knows what jobs return and which words a call takes. `make check` reads this file with
mypy --strict; the mistakes in `WRONG` are shown to mypy when the test runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, assert_type

from mypy import api

from ostinato import Context, Ostinato, RunHandle, SyncContext, cron, every

app = Ostinato("sqlite:///:memory:")


@app.job(retry=3, timeout="30s")
async def charge(ctx: Context, account: str, cents: int) -> str:
    await ctx.checkpoint({"seen": account})
    return f"{account} {cents}"


@app.job
def count(ctx: SyncContext, words: list[str]) -> int:
    ctx.progress(0.5)
    return len(words)


@app.schedule(cron("0 9 * * 1-5", tz="Europe/Berlin"), overlap="buffer_one", catchup="latest")
async def report() -> None: ...


async def typed() -> None:
    handle = await app.start(charge, {"account": "ada", "cents": 1}, priority=2)
    assert_type(handle, RunHandle[str])
    assert_type(await handle.result(), str)
    assert_type(await (await app.start(count, {"words": []})).result(), int)
    assert_type(await app.start("charge"), RunHandle[Any])
    await app.schedules.create("c", every("1h"), charge, overlap="skip", input={"account": "ada", "cents": 1})
    await app.schedules.update("c", spec=every("2h"), overlap="allow_all")


WRONG = """
from ostinato import Ostinato, every
app = Ostinato()

@app.job(timeot="5s")
async def one() -> int:
    return 1

async def main() -> None:
    await app.start(one, prority=3)
    word: str = await (await app.start(two)).result()
    await app.schedules.create("c", every("1h"), two, overlap="bufer_one")
    await app.schedules.update("c", over_lap="skip")
    assert (await app.get("c")).status == "succeded"

@app.job
async def two() -> int:
    return 2
"""


def test_a_type_checker_finds_a_users_mistakes(tmp_path: Path) -> None:
    script = tmp_path / "user.py"
    script.write_text(WRONG)
    root = Path(__file__).parents[2]  # with the project's own settings, so that what `make check` has read is known
    output, _, _ = api.run(["--config-file", str(root / "pyproject.toml"), str(script)])
    lines = sorted(int(line) for line in re.findall(r"user\.py:(\d+): error", output))
    assert set(lines) >= {5, 10, 11, 12, 13, 14}, output
