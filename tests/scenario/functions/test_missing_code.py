"""Runs whose code no node has wait, and the doctor names them, on both stores."""

from __future__ import annotations

from ostinato.doctor import diagnose
from ostinato.functions import FunctionContext
from ostinato.testing import World


async def test_the_doctor_names_functions_that_no_node_has(world: World) -> None:
    @world.app.function()
    async def onboard(ctx: FunctionContext) -> None:
        await ctx.sleep("1d")

    await world.up()
    assert {check.name: check.state for check in await diagnose(world.app)}["unknown_functions"] == "ok"
    world.app.functions.codes._by_name.clear()  # as a node of another app
    for _ in range(2):
        await world.app.functions.start("onboard")
    await world.settle()
    (check,) = [check for check in await diagnose(world.app) if check.name == "unknown_functions"]
    assert check.state == "wrong"
    assert check.words == "runs wait for functions that no node has: 'onboard' (2 runs)"
