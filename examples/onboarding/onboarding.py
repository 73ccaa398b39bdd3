"""Onboard a user: open an account, ask for a confirmation, wait, remind once, charge in a child, and clean up.

`python examples/onboarding/onboarding.py` runs it for two users with pauses of a second instead of days.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from typing import Any

from ostinato import Ostinato
from ostinato.functions import FunctionContext, StepFailed, step

Say = Callable[[str], None]


def declare(app: Ostinato, say: Say) -> None:
    """Declare `onboard` and its child `charge` on an app. `say` is called for each effect."""

    @step(retry={"attempts": 3, "delay": "1s"}, timeout="10s")
    async def open_account(user: str) -> str:
        say(f"opened an account for {user}")
        return f"account-{user}"

    async def close_account(account: str) -> None:
        say(f"closed {account}")

    def send_mail(user: str, text: str) -> None:  # a plain function runs in a thread
        say(f"mail to {user}: {text}")

    @step(at_most_once=True)
    async def take_money(account: str, key: str) -> str:
        say(f"charged {account}")
        return f"receipt {key[:8]}"

    async def count_seats(user: str) -> int:
        return len(user)

    async def find_region(user: str) -> str:
        return "north"

    @app.function()
    async def charge(ctx: FunctionContext, account: str) -> str:
        key = str(ctx.uuid())  # recorded: the same in every replay
        try:
            return await ctx.step(take_money, account, key)
        except StepFailed as failed:  # at most once: nobody tries again by itself
            return f"to be checked by hand: {failed}"

    @app.function()
    async def onboard(ctx: FunctionContext, user: str, pause: str = "3d", patience: str = "2d") -> dict[str, Any]:
        account = await ctx.step(open_account, user)
        confirmed = False
        try:
            ctx.set_state("settling in")
            await ctx.sleep(pause)
            for text in ("please confirm", "a last reminder"):
                await ctx.step(send_mail, user, text)
                ctx.set_state(f"asked: {text}")
                confirmed = await ctx.receive("confirmed", timeout=patience, default=False)
                if confirmed:
                    break
            if not confirmed:
                return {"account": None}
            seats, region = await ctx.gather(ctx.step(count_seats, user), ctx.step(find_region, user))
            child = await ctx.start(charge, {"account": account})
            return {"account": account, "seats": seats, "region": region, "receipt": await child.result()}
        finally:  # nobody confirmed, or the run was cancelled
            if not confirmed:
                await ctx.step(close_account, account)


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = Ostinato(f"sqlite:///{folder}/onboarding.db")
        declare(app, print)
        async with app:
            short = {"pause": "1s", "patience": "1s"}
            ada = await app.functions.start("onboard", {"user": "ada", **short}, send={"confirmed": True})
            bob = await app.functions.start("onboard", {"user": "bob", **short})
            print(await ada.result("1m"))
            print(await bob.result("1m"))
            for record in await app.functions.steps(ada.id):
                print(f"  {record.position:6} {record.kind:8} {record.name:14} {record.status}")


if __name__ == "__main__":
    asyncio.run(main())
