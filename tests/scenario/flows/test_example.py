"""The agent of `examples/buddy`, as it is written: virtual time, a crash, and a decision of the teacher."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from ostinato import cron
from ostinato.testing import World
from tests.support.agents import Chat, Outbox

FILE = Path(__file__).parents[3] / "examples" / "buddy" / "buddy.py"


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("buddy_example", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_it_translates_and_lists_its_words(world: World) -> None:
    outbox = Outbox()
    example().declare(world.app, outbox)
    ada = Chat(world)
    await ada.say("hello")
    await ada.say("goodbye")
    await ada.say("/words")
    assert outbox.texts[0] == "In Portuguese: olá"
    assert outbox.texts[1].startswith("I know: bread, good night")
    assert "bread: pão" in outbox.texts[2]


async def test_a_checkin_asks_and_the_teacher_decides_after_a_crash(world: World) -> None:
    outbox = Outbox()
    example().declare(world.app, outbox)
    ada = Chat(world)
    assert await ada.say("check in") == ("success", "flow_waiting")
    assert await ada.say("12") == ("success", "flow_waiting")
    await world.crash()
    await world.up()
    assert await ada.say("and now?") == ("success", "flow_waiting")
    teacher = world.app.within("default", "local")
    (question,) = await teacher.agents.escalations("buddy")
    assert question.data == {"words": 12}
    await teacher.agents.resolve("buddy", question.id, True)
    await world.settle()
    assert outbox.texts == [
        "How many words did you learn today?",
        "Your teacher looks at it.",
        "You have a badge: parabéns!",
    ]


async def test_a_schedule_checks_in_once_for_each_time(world: World) -> None:
    outbox = Outbox()
    example().declare(world.app, outbox)
    await Chat(world).say("hello")
    evening = cron("0 20 * * *", tz="America/Sao_Paulo")
    await world.app.schedules.create("buddy", evening, "buddy-checkin", input={"user": "ada"})
    await world.advance("33h")
    assert outbox.texts[1:] == ["How many words did you learn today?", "No matter. Até amanhã!"]
