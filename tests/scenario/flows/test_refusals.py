"""Values that are refused where they are given, with their place, and answers of models that are none."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import NotFound, OstinatoError
from ostinato.flows import (
    BeforeLLMInput,
    FlowContext,
    ModelReply,
    OpenAIModel,
    ToolCall,
    WebhookTransport,
    schedule_tools,
)
from ostinato.testing import World
from tests.support.agents import Chat, Outbox, make_buddy


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"admins": [1]}, "agent 'x': admins: an actor 1 is not a text"),
        ({"admins": 5}, "agent 'x': admins 5 is neither a list of actors nor a function"),
        ({"admins": "ada"}, "write ['ada']"),
        ({"prompt": 5}, "agent 'x': prompt 5 is neither a text nor a function"),
        ({"fallback": 5}, "agent 'x': the fallback 5 is not a text"),
        ({"fallback": ""}, "agent 'x': the fallback '' is not a text"),
        ({"structured": "yes"}, "agent 'x': structured 'yes' is neither True nor False"),
    ],
)
def test_values_of_a_declaration(world: World, options: Any, words: str) -> None:
    with pytest.raises(OstinatoError) as refused:
        world.app.agent("x", tz="UTC", transport=Outbox(), **options)
    assert words in str(refused.value)


def test_values_of_models_and_transports() -> None:
    for prices in ((float("nan"), 1.0), (1.0,), (-1.0, 1.0), ("a", "b"), None):
        with pytest.raises(OstinatoError, match=r"the model's prices .* are not two numbers"):
            OpenAIModel("gpt", prices=prices)  # type: ignore[arg-type]
    for timeout in (float("nan"), 0, 61, "5s"):
        with pytest.raises(OstinatoError, match=r"the transport's timeout .* is not from 0 to 60 seconds"):
            WebhookTransport("https://a.b", ["x"], timeout=timeout)  # type: ignore[arg-type]


async def test_unknown_keywords_come_with_those_that_there_are(world: World) -> None:
    with pytest.raises(TypeError, match=r"app.agent has no keyword 'colour'; there are tz, model, transport"):
        world.app.agent("x", tz="UTC", transport=Outbox(), colour=1)
    with pytest.raises(TypeError, match=r"app.agent has no keyword 'fallbak'; did you mean 'fallback'?"):
        world.app.agent("x", tz="UTC", transport=Outbox(), fallbak="Sorry.")
    with pytest.raises(TypeError, match=r"app.agent has no keyword 'timezone'; did you mean 'tz'?"):
        world.app.agent("x", timezone="UTC", transport=Outbox())
    with pytest.raises(OstinatoError, match="agent 'x' has no tz, its time zone; write tz='Europe/Berlin'"):
        world.app.agent("x", transport=Outbox())
    with pytest.raises(OstinatoError, match=r"scheduler has no 'timezone'; did you mean 'tz'?"):
        world.app.agent("x", tz="UTC", transport=Outbox(), scheduler={"timezone": "UTC"})
    make_buddy(world)
    await world.up()
    schedules = world.app.agents.schedules("buddy")
    with pytest.raises(TypeError, match=r"schedules\(…\)\.create has no keyword 'triger'; did you mean 'trigger'?"):
        await schedules.create(flow="x", triger={}, target={})  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="has no keyword 'foo'; there are flow, trigger, target"):
        await schedules.create(flow="x", trigger={}, target={}, foo=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"agents.put_user has no keyword 'tag'; did you mean 'tags'?"):
        await world.app.agents.put_user("buddy", "ada", tag="vip")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"agents.put_user has no keyword 'zone'; did you mean 'tz'?"):
        await world.app.agents.put_user("buddy", "ada", zone="UTC")  # type: ignore[call-arg]


async def test_a_flow_that_the_tools_may_schedule_must_exist(world: World) -> None:
    agent, _ = make_buddy(world, tools=[schedule_tools(["remnd", "classic"])])

    @agent.flow
    async def remind(ctx: FlowContext) -> None: ...

    with pytest.raises(NotFound, match=r"agent 'buddy': schedule_tools: there is no flow 'remnd'; did you mean"):
        await world.up()


async def test_a_flow_that_the_tools_may_schedule_must_begin_without_an_input(world: World) -> None:
    agent, _ = make_buddy(world, tools=[schedule_tools(["offer"])])

    @agent.flow
    async def offer(ctx: FlowContext, text: str) -> None: ...

    with pytest.raises(OstinatoError, match="schedule_tools: flow 'offer' needs an input, which the tools do not take"):
        await world.up()


async def test_the_limit_of_a_list_says_its_bounds(world: World) -> None:
    make_buddy(world)
    await world.up()
    with pytest.raises(OstinatoError, match="limit 0 is not a whole number from 1 to 100,000"):
        await world.app.agents.users("buddy", limit=0)


CALL: Any = ToolCall


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (None, "the model returned None, which is not a ModelReply"),
        ("hi", "the model returned 'hi', which is not a ModelReply"),
        (ModelReply(5), "the model's answer has the text 5, which is no text"),  # type: ignore[arg-type]
        (ModelReply(tool_calls="x"), "the model's tool_calls 'x' are not a list of ToolCall"),  # type: ignore[arg-type]
        (ModelReply(tool_calls=[None]), "the model's tool_calls[0] None is not a ToolCall"),  # type: ignore[list-item]
        (ModelReply(tool_calls=[CALL(None, "note", {})]), "tool_calls[0]: the id None is not a text"),
        (ModelReply(tool_calls=[CALL("1", None, {})]), "tool_calls[0]: the name None is not a text"),
        (ModelReply(tool_calls=[CALL("1", "note", None)]), "tool_calls[0]: the arguments None are not an object"),
        (ModelReply(tool_calls=[CALL("1", "note", {"n": float("nan")})]), "tool_calls[0]: the arguments is not JSON"),
        (ModelReply("hi", tokens_in=1.5), "the model's tokens_in 1.5 is not a whole number"),  # type: ignore[arg-type]
    ],
)
async def test_an_answer_that_is_none_fails_the_turn_at_once_and_in_words(world: World, reply: Any, words: str) -> None:
    class Odd:
        calls = 0

        async def complete(self, request: Any, egress: Any) -> Any:
            self.calls += 1
            return reply

    model = Odd()
    world.app.agent("buddy", tz="UTC", model=model, transport=Outbox())
    outcome, reason = await Chat(world).say("hi")
    assert outcome == "failed"
    assert words in (reason or "")
    assert "TypeError" not in (reason or "")
    assert model.calls == 1  # asking again would not help


async def test_a_prompt_that_is_no_text_fails_the_turn_in_words(world: World) -> None:
    def prompt(hook_input: BeforeLLMInput) -> Any:
        return 5

    make_buddy(world, "hi", prompt=prompt)
    outcome, reason = await Chat(world).say("hi")
    assert outcome == "failed"
    assert "the prompt of agent 'buddy' returned 5, which is no text" in (reason or "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"txt": "a"}, "tool 'note': text: Field required; txt: there is no such argument; did you mean 'text'?"),
        ({"text": "a", "colour": 1}, "tool 'note': colour: there is no such argument; there is text, where"),
        ({"text": "a", "where": {"cty": "x"}}, "where.cty: there is no such argument; did you mean 'city'?"),
    ],
)
async def test_unknown_arguments_of_tools_come_with_the_valid_ones(world: World, arguments: Any, words: str) -> None:
    from pydantic import BaseModel, ConfigDict

    class Place(BaseModel):
        model_config = ConfigDict(extra="forbid")
        city: str = ""

    seen: list[str] = []

    def answer(request: Any) -> ModelReply:
        if request.messages[-1]["role"] == "tool":
            seen.append(request.messages[-1]["content"])
            return ModelReply("ok")
        return ModelReply(tool_calls=[ToolCall("1", "note", arguments)])

    agent, _ = make_buddy(world, answer, answer)

    def note(text: str, where: Place | None = None) -> None: ...

    note.__annotations__ = {"text": str, "where": Place | None}
    agent.tool(note)
    assert await Chat(world).say("hi") == ("success", None)
    assert words in seen[0]


async def test_a_nul_is_refused_with_its_place(world: World) -> None:
    """PostgreSQL keeps none in a text, so no store takes one."""
    seen: list[str] = []

    def answer(request: Any) -> ModelReply:
        if request.messages[-1]["role"] == "tool":
            seen.extend(message["content"] for message in request.messages if message["role"] == "tool")
            return ModelReply("ok")
        arguments = {"flow": "remind", "trigger": {"type": "once", "run_at": "2026-01-01T09:00"}}
        return ModelReply(
            tool_calls=[
                ToolCall("1", "create_current_user_schedule", {**arguments, "metadata": {"note": ["a", "b\0"]}}),
                ToolCall("2", "note", {"text": "a\0"}),
            ]
        )

    agent, _ = make_buddy(world, answer, answer, tools=[schedule_tools(["remind"])])

    @agent.flow
    async def remind(ctx: FlowContext, text: str = "") -> None: ...

    @agent.tool
    async def note(text: str) -> None: ...

    assert await Chat(world).say("hi") == ("success", None)
    assert "metadata.note[1] 'b\\\\x00' has a character that cannot be stored" in seen[0]
    assert "tool 'note': text 'a\\\\x00' has a character that cannot be stored" in seen[1]
    schedules = world.app.agents.schedules("buddy")
    trigger, target = {"type": "cron", "expr": "0 9 * * *"}, {"kind": "user", "user_external_id": "ada"}
    for more, words in (
        ({"metadata": {"a\0": 1}}, "the schedule.metadata: the name"),
        ({"input": {"text": "\0"}}, "the schedule.input: text"),
    ):
        with pytest.raises(OstinatoError, match=words):
            await schedules.create(flow="remind", trigger=trigger, target=target, **more)
    assert not await schedules.list()


async def test_an_answer_with_a_nul_is_asked_for_again(world: World) -> None:
    _, outbox = make_buddy(world, "a\0b", "fine")
    assert await Chat(world).say("hi") == ("success", None)
    assert outbox.texts == ["fine"]
