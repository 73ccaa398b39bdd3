"""The pure parts of agents: answers of models, messages that come in, yes and no, declarations."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import orjson
import pytest
from pydantic import BaseModel, ConfigDict, Discriminator, Tag

from ostinato import OstinatoError
from ostinato.engine.http import signing
from ostinato.engine.http.egress import Egress, EgressFailed, EgressResponse, EgressUnconnected
from ostinato.errors import InputError
from ostinato.flows import (
    ModelFailed,
    ModelRefused,
    ModelRequest,
    NotSent,
    OpenAIModel,
    OutgoingMessage,
    WebhookTransport,
)
from ostinato.flows.context import read_yes_or_no
from ostinato.flows.definition import check_arguments, make_agent, read_declaration, write_declaration
from ostinato.flows.models import read_completion, read_stream
from ostinato.flows.responses import message_id
from ostinato.flows.runner import read_turn_input
from ostinato.flows.transports import ConsoleTransport, read_inbound

SECRET = signing.new_secret()
MESSAGE = OutgoingMessage("t_0", "buddy", "ada", "ada@chat", "hello", {}, 1_700_000_000_000_000)


class Service(Egress):
    """An HTTP service that gives these answers: a status and a body, or an exception."""

    def __init__(self, *answers: Any) -> None:
        super().__init__()
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []

    async def request(self, method: str, url: str, **options: Any) -> EgressResponse:
        self.requests.append({"url": url, **options})
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        status, body = answer
        return EgressResponse(status, {}, body if isinstance(body, bytes) else orjson.dumps(body), False, 0)  # type: ignore[arg-type]


def completion(text: str | None, *calls: tuple[str, str]) -> dict[str, Any]:
    tool_calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {
        "model": "m-1",
        "choices": [{"message": {"content": text, "tool_calls": tool_calls}}],
        "usage": {"prompt_tokens": 1000, "completion_tokens": 10},
    }


def test_a_model_is_asked_with_its_key_and_its_cost_is_counted() -> None:
    service = Service((200, completion("hi", ("note", '{"text": "milk"}'))))
    model = OpenAIModel("m", "http://llm.test/v1/", api_key="k-123", prices=(0.5, 2.0))
    tools = [{"name": "note", "description": "", "parameters": {}}]
    reply = asyncio.run(model.complete(ModelRequest([{"role": "user", "content": "x"}], tools), service))
    assert (reply.text, reply.tokens_in, reply.tokens_out, reply.cost) == ("hi", 1000, 10, 520)
    assert [(call.name, call.arguments) for call in reply.tool_calls] == [("note", {"text": "milk"})]
    (request,) = service.requests
    assert request["url"] == "http://llm.test/v1/chat/completions"
    assert request["headers"]["authorization"] == "Bearer k-123"
    assert orjson.loads(request["content"])["tools"][0]["function"]["name"] == "note"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((500, {"error": "k-123"}), ModelFailed),
        ((429, {}), ModelFailed),
        ((401, {"error": "k-123"}), ModelRefused),
        ((200, b"not json"), ModelFailed),
        ((200, {"choices": []}), ModelFailed),
        ((200, completion(None, ("note", "[1]"))), ModelFailed),
        (EgressFailed("k-123 broke"), ModelFailed),
    ],
)
def test_a_model_that_fails_says_whether_to_try_again_and_no_secret(answer: Any, error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        asyncio.run(OpenAIModel("m", api_key="k-123").complete(ModelRequest([]), Service(answer)))
    assert "k-123" not in str(caught.value)


def stream(*events: Any) -> bytes:
    return b"".join(b"data: " + (e if isinstance(e, bytes) else orjson.dumps(e)) + b"\n\n" for e in events)


def test_a_stream_is_put_together() -> None:
    def delta(**fields: Any) -> dict[str, Any]:
        return {"model": "m", "choices": [{"delta": fields}]}

    parts: list[str] = []
    content = stream(
        delta(content="hel"),
        delta(content="lo"),
        delta(tool_calls=[{"index": 0, "id": "c", "function": {"name": "note", "arguments": '{"te'}}]),
        delta(tool_calls=[{"index": 0, "function": {"arguments": 'xt": "x"}'}}]),
        {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}},
        b"[DONE]",
    )
    reply = read_stream(content, parts.append)
    assert (reply.text, reply.tokens_in, reply.tokens_out, parts) == ("hello", 3, 4, ["hel", "lo"])
    assert reply.tool_calls[0].arguments == {"text": "x"}
    with pytest.raises(ValueError, match="broke off"):
        read_stream(stream(delta(content="hel")))
    assert read_completion(completion("x")).model == "m-1"


class Place(BaseModel):
    model_config = ConfigDict(extra="forbid")
    city: str = ""


class Shop(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str = ""


class Nowhere(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Trip(BaseModel):
    stops: list[Place] | None = None
    by_day: dict[str, list[Place]] = {}
    ends: tuple[Place, Shop] = (Place(), Shop())
    goal: Place | Shop | None = None
    tagged: Annotated[Annotated[Place, Tag("p")] | Annotated[Shop, Tag("s")], Discriminator(lambda _: "p")] = Place()
    nowhere: Nowhere = Nowhere()


@pytest.mark.parametrize(
    ("input", "words"),
    [
        ({"stops": [{}, {"cty": "x"}]}, "stops.1.cty: there is no such argument; did you mean 'city'?"),
        ({"by_day": {"city": [{"x": 1}]}}, "by_day.city.0.x: there is no such argument; there is city"),
        ({"ends": [{"x": 1}, {}]}, "ends.0.x: there is no such argument; there is city"),
        ({"goal": {"x": 1}}, "goal.Shop.x: there is no such argument; there is name"),
        ({"tagged": {"x": 1}}, "tagged.p.x: there is no such argument"),
        ({"nowhere": {"x": 1}}, "nowhere.x: there is no such argument; there are no arguments"),
    ],
)
def test_an_unknown_field_at_any_depth_comes_with_those_that_there_are(input: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        check_arguments(Trip, input, "tool 'note'")
    assert str(caught.value).endswith(words)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_only_the_line_ends_of_server_sent_events_end_a_line_of_a_stream(end: bytes) -> None:
    text = "a\u2028b\u2029c\x85d"
    events = stream({"choices": [{"delta": {"content": text}}]}, b"[DONE]")
    assert read_stream(events.replace(b"\n", end)).text == text


def test_a_webhook_is_signed_and_carries_its_key() -> None:
    service = Service((200, {"id": "p-1"}))
    transport = WebhookTransport("http://chat.test/", [SECRET])
    assert asyncio.run(transport.send(MESSAGE, service)) == "p-1"
    (request,) = service.requests
    signing.verify([SECRET], request["headers"], request["content"], MESSAGE.now)
    assert request["headers"]["webhook-id"] == request["headers"]["idempotency-key"] == "t_0"
    assert orjson.loads(request["content"])["to"] == "ada@chat"


@pytest.mark.parametrize(
    ("answer", "retry"), [((429, {}), True), ((400, {}), False), (EgressUnconnected("no name"), True)]
)
def test_a_webhook_knows_what_was_surely_not_sent(answer: Any, retry: bool) -> None:
    with pytest.raises(NotSent) as caught:
        asyncio.run(WebhookTransport("http://chat.test/", [SECRET]).send(MESSAGE, Service(answer)))
    assert caught.value.retry is retry


@pytest.mark.parametrize("answer", [(500, {}), EgressFailed("broke")])
def test_a_webhook_does_not_know_of_others(answer: Any) -> None:
    with pytest.raises(OstinatoError) as caught:
        asyncio.run(WebhookTransport("http://chat.test/", [SECRET]).send(MESSAGE, Service(answer)))
    assert not isinstance(caught.value, NotSent)


def test_a_message_that_comes_in_must_be_signed() -> None:
    transport = WebhookTransport("http://chat.test/", [SECRET])
    body = orjson.dumps({"id": "m-1", "user": "ada", "text": "hi", "name": "Ada"})
    headers = signing.sign([SECRET], "m-1", MESSAGE.now, body)
    message = transport.read_inbound(headers, body, MESSAGE.now)
    assert (message.id, message.user, message.text, message.name) == ("m-1", "ada", "hi", "Ada")
    with pytest.raises(signing.SignatureInvalid):
        transport.read_inbound(headers, body.replace(b"ada", b"eve"), MESSAGE.now)
    with pytest.raises(OstinatoError, match="the message's user"):
        read_inbound(b'{"id": "1", "text": "x"}')
    with pytest.raises(OstinatoError, match="is not JSON"):
        read_inbound(b"{")


def test_the_console_shows_messages() -> None:
    lines: list[str] = []
    asyncio.run(ConsoleTransport(lines.append).send(MESSAGE, Egress()))
    assert lines == ["buddy → ada: hello"]


@pytest.mark.parametrize(("text", "answer"), [(" Yes! ", True), ("não", False), ("maybe", None), ("", None)])
def test_yes_and_no(text: str, answer: bool | None) -> None:
    assert read_yes_or_no(text) is answer


def test_responses_sort_after_the_message_that_they_answer() -> None:
    keys = [f"turn_{number}" for number in (0, 9, 10)]
    assert sorted(["turn0", *map(message_id, keys)]) == ["turn0", *map(message_id, keys)]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"tz": "Mars"}, "tz 'Mars' is not a time zone"),
        ({"transport": None}, "has no `send`"),
        ({"model": "gpt"}, "has no `complete`"),
        ({"admins": "ada"}, "is one text; write \\['ada'\\]"),
        ({"idle": "2d", "end_after": "1d"}, "0 < idle < end_after"),
        ({"rounds": 0}, "rounds 0 is not a whole number"),
    ],
)
def test_a_declaration_is_checked(options: dict[str, Any], words: str) -> None:
    good: dict[str, Any] = {"tz": "UTC", "model": None, "transport": ConsoleTransport()}
    with pytest.raises(OstinatoError, match=words):
        make_agent("buddy", **{**good, **options})


def test_a_stored_declaration_has_the_names_that_older_nodes_read() -> None:
    agent = make_agent("buddy", tz="UTC", model=None, transport=ConsoleTransport(), scheduler={"tz": "Asia/Tokyo"})
    text = write_declaration(agent.declaration())
    stored = orjson.loads(text)
    assert (stored["zone"], stored["scheduler"]["timezone"]) == ("UTC", "Asia/Tokyo")
    assert "tz" not in stored
    read = read_declaration(text)
    assert (read["tz"], read["scheduler"]["tz"]) == ("UTC", "Asia/Tokyo")
    assert read == orjson.loads(orjson.dumps(agent.declaration()))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"user": "ada", "source": "scheduled"}, "needs 'key'"),
        ({"user": "ada", "source": "x", "key": "1"}, "source 'x' is none of inbound"),
        ({"user": "ada", "source": "inbound", "key": "1"}, "has a text"),
        ({"user": "ada", "source": "scheduled", "key": "1", "campaign": "c"}, "a turn has no 'campaign'"),
        ({"user": "ada", "source": "scheduled", "key": "1", "metadata": {"x": "y" * 20_000}}, "more than 16,384 bytes"),
    ],
)
def test_a_turn_is_checked(value: dict[str, Any], words: str) -> None:
    with pytest.raises(OstinatoError, match=words):
        read_turn_input(value)
