"""The tools with which agents schedule for their own user, and a model that tries everything else. The numbers are
those of the RFC's conformance checklist."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from ostinato import OstinatoError
from ostinato.flows import Agent, FlowContext, ModelReply, ScheduleRecord, ToolCall, schedule_tools
from ostinato.model import Event
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, events, make_buddy

CREATE, UPDATE, CANCEL, LIST = (
    "create_current_user_schedule",
    "update_current_user_schedule",
    "cancel_current_user_schedule",
    "list_current_user_schedules",
)
NINE = {"type": "cron", "expr": "0 9 * * *"}
SOON = {"type": "once", "run_at": "2026-01-01T09:00"}


class Puppet:
    """A model that calls the tool that the test names, and then says what came of it."""

    def __init__(self) -> None:
        self.call: ToolCall | None = None
        self.results: list[Any] = []
        self.tools: list[Mapping[str, Any]] = []

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        import orjson

        self.tools = list(request.tools)
        if request.messages[-1]["role"] == "tool":
            self.results.append(orjson.loads(request.messages[-1]["content"]))
            return ModelReply("ok")
        call, self.call = self.call, None
        return ModelReply("", tool_calls=[call]) if call else ModelReply("nothing")


class Stage:
    """An agent whose model is a puppet, and its users."""

    def __init__(self, world: World, **limits: Any) -> None:
        self.world = world
        self.model = Puppet()
        self.outbox = Outbox()
        limits = {"flows": ["remind"], **limits}
        self.agent: Agent = world.app.agent(
            "buddy",
            tz="America/Sao_Paulo",
            model=self.model,
            transport=self.outbox,
            tools=[schedule_tools(**limits)],
        )

        @self.agent.flow
        async def remind(ctx: FlowContext) -> None:
            await ctx.say(str(ctx.trigger.get("what", "Remember.")))

        @self.agent.flow
        async def secret(ctx: FlowContext) -> None: ...

        self._chats: dict[str, Chat] = {}

    async def call(self, tool: str, by: str = "ada", /, **arguments: Any) -> Any:
        """Let the model call a tool in a turn of this user. Returns what the model gets."""
        self.model.call = ToolCall("1", tool, arguments)
        chat = self._chats.setdefault(by, Chat(self.world, by))
        assert await chat.say("do it") == ("success", None)
        return self.model.results[-1]

    async def records(self) -> list[ScheduleRecord]:
        return list(await self.world.app.agents.schedules("buddy").list())

    async def denials(self) -> list[Event]:
        return [e for e in await events(self.world, "schedule") if e.name == "schedule:tool_scope_denied"]


async def test_17_18_a_schedule_is_for_the_user_of_the_session(world: World) -> None:
    stage = Stage(world)
    new = await stage.call(CREATE, flow="remind", trigger=SOON, metadata={"what": "Water the plants."})
    assert new["status"] == "active"
    assert new["allow_session_bootstrap"] is True  # a reminder comes even if the session is over
    (record,) = await stage.records()
    assert (record.id, record.origin, record.target_user_external_id) == (new["schedule_id"], "tool", "ada")
    assert record.actor == "user:ada"
    await world.advance("13h")
    assert stage.outbox.texts[-1] == "Water the plants."
    assert stage.outbox.sent[-1].address == "ada"
    assert (await stage.records())[0].status == "completed"
    assert not await stage.denials()


async def test_17_26_no_tool_has_a_field_for_a_target(world: World) -> None:
    stage = Stage(world)
    await stage.call(LIST)
    words = str([tool for tool in stage.model.tools if "schedule" in tool["name"]]).lower()
    assert {tool["name"] for tool in stage.model.tools} == {CREATE, UPDATE, CANCEL, LIST}
    for word in ("segment", "campaign", "external", "target", "recipient", "session_id", "namespace"):
        assert word not in words, word


HOSTILE: tuple[dict[str, Any], ...] = (
    {"target": {"kind": "user", "user_external_id": "bob"}},
    {"target": {"kind": "segment", "segment": {"type": "all"}}},
    {"segment": {"type": "all"}},
    {"campaign_id": "spring"},
    {"campaignId": "spring"},
    {"user_external_id": "bob"},
    {"userExternalId": "bob"},
    {"user": "bob"},
    {"user_id": "01ke4e1tg02kcc3tnabr6cq22e"},
    {"session_id": "01ke4e1tg02kcc3tnabr6cq22e"},
    {"ctx": {"user": {"external_id": "bob"}}},
    {"context": "bob"},
    {"self": "bob"},
    {"agent": "other"},
    {"namespace": "other"},
    {"actor": "root"},
    {"id": "cfg:morning"},
    {"schedule_id": "x"},
    {"t\u0430rget": "bob"},  # a Cyrillic letter
    {"target\u0000": "bob"},
    {" target": "bob"},
    {"__proto__": {"target": "bob"}},
    {"input": {"user": "bob"}},
    {"on_active_flow": "replace"},
    {"trigger": {**SOON, "user_external_id": "bob"}},
    {"trigger": {**SOON, "target": {"kind": "segment", "segment": {"type": "all"}}}},
    {"on_missed": {"policy": "skip", "target": "bob"}},
)


async def test_19_20_22_27_a_target_in_the_arguments_is_refused_and_seen(world: World) -> None:
    stage = Stage(world)
    await Chat(world, "bob").say("hi")
    for number, extra in enumerate(HOSTILE, 1):
        answer = await stage.call(CREATE, **{"flow": "remind", "trigger": SOON, **extra})
        assert "error" in answer, extra
        denials = await stage.denials()
        assert len(denials) == number, extra
        data = denials[-1].data
        (session,) = await world.app.agents.sessions("buddy", user="ada")
        (turn, *_) = await world.app.agents.turns(session.id)
        assert (data["reason"], data["tool"]) == ("undeclared_arguments", CREATE)
        assert (data["agent"], data["user_external_id"]) == ("buddy", "ada")
        assert (data["session_id"], data["request_id"], data["turn_source"]) == (session.id, turn.id, "inbound")
    assert not await stage.records()
    await world.advance("13h")
    assert {message.address for message in stage.outbox.sent if message.text != "nothing"} == {"ada"}


async def test_07_18_wrong_values_are_refused_in_words_and_are_no_denials(world: World) -> None:
    stage = Stage(world)
    good: dict[str, Any] = {"flow": "remind", "trigger": SOON}
    for change, words in (
        ({"trigger": {"type": "cron", "expr": "* * * * *"}}, "two of its times are 60 s apart; at least 600 s"),
        ({"trigger": {"type": "cron", "expr": "0,5 9 * * *"}}, "two of its times are 300 s apart"),
        ({"trigger": {"type": "cron", "expr": "0 9 31 2 *"}}, "trigger.expr"),
        ({"trigger": {"type": "once", "run_at": "2025-01-01T00:00"}}, "has passed"),
        ({"trigger": {"type": "once", "run_at": "9999-12-31T23:59"}}, "is not in the years 1900 to 2199"),
        ({"trigger": "tomorrow"}, "trigger"),
        ({"trigger": {"type": "every"}}, "trigger.type"),
        ({"metadata": {"x": "y" * 20_000}}, "at most 16,384"),
        ({"metadata": {"campaign_id": "spring"}}, "cannot have 'campaign_id'"),
        ({"metadata": {"given": {}}}, "cannot have 'given'"),
        ({"metadata": "user=bob"}, "metadata"),
        ({"allow_session_bootstrap": "yes"}, "allow_session_bootstrap"),
        ({"flow": "x" * 10_000}, "flow"),
        ({"flow": ["remind"]}, "flow"),
    ):
        answer = await stage.call(CREATE, **{**good, **change})
        assert words in answer["error"], answer
    new_id = (await stage.call(CREATE, **good))["schedule_id"]
    answer = await stage.call(UPDATE, schedule_id=new_id)
    words = "the update changes nothing; give trigger, allow_session_bootstrap, on_missed, metadata"
    assert words in answer["error"]
    answer = await stage.call(UPDATE, schedule_id=new_id, triger=SOON)
    assert "triger: there is no such argument; did you mean 'trigger'?" in answer["error"]
    assert len(await stage.denials()) == 1  # undeclared arguments are
    for id in ("", "x" * 10_000, "tool:\x00", {"id": 1}, None):
        assert "error" in await stage.call(CANCEL, schedule_id=id)
    assert [record.id for record in await stage.records()] == [new_id]
    assert len(await stage.denials()) == 1


async def test_20_21_25_ids_of_others_do_not_exist_for_the_model_and_are_denials(world: World) -> None:
    stage = Stage(world)
    bobs = (await stage.call(CREATE, "bob", flow="remind", trigger=NINE))["schedule_id"]
    schedules = world.app.agents.schedules("buddy")
    all_of_them = {"kind": "segment", "segment": {"type": "all"}}
    campaign = (await schedules.create(flow="remind", trigger=NINE, target=all_of_them)).schedule_id
    before = await stage.records()
    answers = set()
    for id in (bobs, campaign, "tool:nothing", bobs.upper(), f" {bobs}", f"{bobs}'--", f"%{bobs[5:]}", "cfg:x"):
        for tool, more in ((CANCEL, {}), (UPDATE, {"trigger": SOON}), (UPDATE, {"metadata": {"a": 1}})):
            answer = await stage.call(tool, schedule_id=id, **more)
            answers.add(answer["error"].replace(repr(id), "…").replace(tool, "…"))
    assert len(answers) == 1  # the model cannot tell them apart
    assert await stage.records() == before
    denials = await stage.denials()
    assert [(e.data["reason"], e.data["schedule_id"]) for e in denials] == [
        *[("foreign_schedule", bobs)] * 3,
        *[("segment_schedule", campaign)] * 3,
    ]
    assert {e.data["user_external_id"] for e in denials} == {"ada"}
    assert await stage.call(LIST) == []
    assert [one["schedule_id"] for one in await stage.call(LIST, "bob")] == [bobs]


async def test_25_a_schedule_of_the_code_cannot_be_changed_by_a_tool(world: World) -> None:
    ada = {"kind": "user", "user_external_id": "ada"}
    model = Puppet()
    agent = world.app.agent(
        "buddy",
        tz="UTC",
        model=model,
        transport=Outbox(),
        tools=[schedule_tools("*")],
        schedules={"daily": {"flow": "classic", "trigger": NINE, "target": ada, "metadata": {"prompt": "Ask."}}},
    )
    assert set(agent.tools) == {CREATE, UPDATE, CANCEL, LIST}
    model.call = ToolCall("1", CANCEL, {"schedule_id": "cfg:daily"})
    await Chat(world).say("cancel it")
    assert "error" in model.results[-1]
    assert (await world.app.agents.schedules("buddy").get("cfg:daily")).status == "active"


async def test_23_24_update_cancel_and_list(world: World) -> None:
    stage = Stage(world)
    new = await stage.call(CREATE, flow="remind", trigger=NINE)
    id = new["schedule_id"]
    later = {"type": "cron", "expr": "0 10 * * *"}
    changed = await stage.call(UPDATE, schedule_id=id, trigger=later, metadata={"what": "Now."})
    assert (changed["trigger"], changed["version"], changed["metadata"]) == (later, 2, {"what": "Now."})
    for argument in ("flow", "target", "on_active_flow"):
        assert "error" in await stage.call(UPDATE, schedule_id=id, **{argument: "secret"})
    assert "error" in await stage.call(UPDATE, schedule_id=id, trigger={"type": "cron", "expr": "* * * * *"})
    assert "error" in await stage.call(UPDATE, schedule_id=id)
    assert [one["schedule_id"] for one in await stage.call(LIST, flow="remind", status="active")] == [id]
    assert await stage.call(LIST, status="paused") == []
    assert await stage.call(LIST, flow="secret") == []
    assert "error" in await stage.call(LIST, user_external_id="bob")
    assert (await stage.call(CANCEL, schedule_id=id))["status"] == "canceled"
    assert (await stage.call(CANCEL, schedule_id=id))["status"] == "canceled"
    assert "is canceled" in (await stage.call(UPDATE, schedule_id=id, trigger=later))["error"]
    await world.advance("2d")
    assert "Now." not in stage.outbox.texts


async def test_28_flows_call_the_same_tools_with_the_same_limits(world: World) -> None:
    stage = Stage(world)
    caught: list[str] = []

    @stage.agent.flow
    async def plan(ctx: FlowContext) -> None:
        new = await ctx.tool(CREATE, flow="remind", trigger=SOON)
        caught.append(new["status"])
        for arguments in (
            {"flow": "remind", "trigger": SOON, "user_external_id": "bob"},
            {"flow": "secret", "trigger": SOON},
        ):
            try:
                await ctx.tool(CREATE, **arguments)
            except Exception as problem:
                caught.append(type(problem).__name__)

    stage.agent.router(lambda hook_input: "plan")
    await Chat(world).say("plan it")
    assert caught == ["active", "StepFailed", "StepFailed"]
    assert [e.data["reason"] for e in await stage.denials()] == ["undeclared_arguments", "flow_not_allowed"]
    assert len(await stage.records()) == 1


async def test_28_flows_that_are_not_allowed_are_denied(world: World) -> None:
    stage = Stage(world)
    answer = await stage.call(CREATE, flow="secret", trigger=SOON)
    assert "cannot be scheduled; there is remind" in answer["error"]
    (denial,) = await stage.denials()
    assert (denial.data["reason"], denial.data["flow"]) == ("flow_not_allowed", "secret")


async def test_28_a_scheduled_turn_cannot_schedule(world: World) -> None:
    """Nor can a flow that it began, after a wait: only a message of the user opens the door."""
    stage = Stage(world)
    caught: list[str] = []

    @stage.agent.flow
    async def again(ctx: FlowContext) -> None:
        async def attempt() -> None:
            try:
                await ctx.tool(CREATE, flow="remind", trigger=NINE)
                caught.append("new")
            except Exception as problem:
                caught.append(type(problem).__name__)

        await attempt()
        await ctx.sleep("1m")
        await attempt()
        if await ctx.ask("Again?", timeout="1h", default=None):
            await attempt()

    await world.up()
    await world.app.agents.put_user("buddy", "ada")
    await world.app.agents.schedules("buddy").create(
        flow="again",
        trigger=SOON,
        target={"kind": "user", "user_external_id": "ada"},
        allow_session_bootstrap=True,
    )
    await world.advance_to("2026-01-01T12:10Z")
    assert caught == ["StepFailed", "StepFailed"]
    await Chat(world).say("yes")
    assert caught == ["StepFailed", "StepFailed", "new"]
    assert [e.data["turn_source"] for e in await stage.denials()] == ["scheduled", "resumed"]


async def test_28_the_number_of_schedules_of_a_user_is_bounded_also_for_calls_at_once(world: World) -> None:
    stage = Stage(world, max_active=2)
    first = await stage.call(CREATE, flow="remind", trigger=NINE)
    second = await stage.call(CREATE, flow="remind", trigger=SOON)
    assert "there are 2 schedules already" in (await stage.call(CREATE, flow="remind", trigger=NINE))["error"]
    assert "status" in await stage.call(CREATE, "bob", flow="remind", trigger=NINE)  # each user has their own
    await stage.call(CANCEL, schedule_id=first["schedule_id"])
    assert (await stage.call(CREATE, flow="remind", trigger=NINE))["status"] == "active"
    await world.advance("13h")  # the single one is over
    assert (await stage.call(CREATE, flow="remind", trigger=NINE))["status"] == "active"
    late = {"type": "once", "run_at": "2026-06-01T09:00"}
    for number in range(3):  # those of the backend, and of the code, do not count
        target = {"kind": "user", "user_external_id": "bob"}
        await world.app.agents.schedules("buddy").create(flow="secret", trigger=NINE, target=target, id=f"api-{number}")
    assert (await stage.call(CREATE, "bob", flow="remind", trigger=NINE))["status"] == "active"
    answer = await stage.call(UPDATE, schedule_id=second["schedule_id"], trigger=late)
    assert "there are 2 schedules already" in answer["error"]  # an update cannot bring one back beyond the limit


async def test_at_least_once_a_repeated_call_makes_one_schedule(world: World) -> None:
    """The node is lost after the schedule was committed and before the call was recorded."""
    world.app.configure(lease="20s")
    stage = Stage(world)
    await world.up()
    tool = stage.agent.tools[CREATE]
    lost = False
    function = tool.function

    async def hang(**arguments: Any) -> Any:
        nonlocal lost
        new = await function(**arguments)
        if not lost:
            lost = True
            await asyncio.Event().wait()
        return new

    object.__setattr__(tool, "function", hang)
    object.__setattr__(tool, "timeout", 10**12)
    stage.model.call = ToolCall("1", CREATE, {"flow": "remind", "trigger": NINE})
    turn = await world.app.agents.receive("buddy", "ada", "do it", id="m1")
    await world.advance("2s")
    assert lost
    await world.crash()
    await world.up()
    await world.advance("2m")
    assert (await world.app.agents.outcome(turn.id, "1s")).outcome == "success"
    assert len(await stage.records()) == 1


async def test_limits_are_checked_where_they_are_given(world: World) -> None:
    for limits, words in (
        ({"flows": "remind"}, "flows 'remind' is neither"),
        ({"flows": [1]}, "flows"),
        ({"flows": "*", "max_active": 0}, "max_active 0"),
        ({"flows": "*", "min_interval": "10s"}, "less than a minute"),
        ({"flows": "*", "in_scheduled_turns": 1}, "in_scheduled_turns 1"),
    ):
        with pytest.raises(OstinatoError, match=words):
            schedule_tools(**limits)
    with pytest.raises(OstinatoError, match="is not schedule_tools"):
        make_buddy(world, tools=["schedule"])
