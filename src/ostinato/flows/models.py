"""Connect agents to language models.

`Model` is the protocol. `OpenAIModel` calls OpenAI-compatible services. `ScriptedModel` is for tests and demos.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.http.egress import Egress, EgressRefused
from ostinato.engine.http.secrets import redact, resolve
from ostinato.errors import OstinatoError, check_text, is_text, short_repr
from ostinato.flows.errors import ModelFailed, ModelRefused

_TIMEOUT = 30.0
_LARGEST = 4 << 20  # bytes of an answer
_SHOWN = 300  # characters of an answer in an error
_LINE_END = re.compile(r"\r\n|\n|\r")  # of server-sent events; JSON may contain U+2028, where `splitlines` splits, too
_TRANSIENT = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that the model asks for."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The input of a model. `messages` has the format of OpenAI's chat completions. `tools` are the tools that the
    model may call."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = ()
    structured: bool = False
    on_text: Callable[[str], None] | None = None  # called with each part of a streamed answer


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The answer of a model. `cost` is in millionths of the currency of the model's prices."""

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: int = 0

    def as_json(self) -> dict[str, Any]:
        calls = [{"id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in self.tool_calls]
        return {
            "text": self.text,
            "tool_calls": calls,
            "model": self.model,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "cost": self.cost,
        }


def checked_reply(reply: object) -> ModelReply:
    """Return `reply` if it is a valid `ModelReply`.

    - If the text has a character that cannot be stored, raise `ModelFailed`. The model may be called again: its next
      answer may be valid.
    - If `reply` has any other fault, raise `ModelRefused`.
    """
    if not isinstance(reply, ModelReply):
        raise ModelRefused(f"the model returned {short_repr(reply)}, which is not a ModelReply")
    if not isinstance(reply.text, str):
        raise ModelRefused(f"the model's answer has the text {short_repr(reply.text)}, which is no text")
    if reply.text and not is_text(reply.text):
        raise ModelFailed("the model's answer has a character that cannot be stored, such as a NUL")
    if isinstance(reply.tool_calls, str) or not isinstance(reply.tool_calls, Sequence):
        raise ModelRefused(f"the model's tool_calls {short_repr(reply.tool_calls)} are not a list of ToolCall")
    for number, call in enumerate(reply.tool_calls):
        where = f"the model's tool_calls[{number}]"
        if not isinstance(call, ToolCall):
            raise ModelRefused(f"{where} {short_repr(call)} is not a ToolCall")
        for name in ("id", "name"):
            if not is_text(getattr(call, name)):
                raise ModelRefused(f"{where}: the {name} {short_repr(getattr(call, name))} is not a text")
        if not isinstance(call.arguments, Mapping):
            raise ModelRefused(f"{where}: the arguments {short_repr(call.arguments)} are not an object")
        try:
            to_json(dict(call.arguments), f"{where}: the arguments")
        except OstinatoError as problem:
            raise ModelRefused(str(problem)) from None
    for name in ("tokens_in", "tokens_out", "cost"):
        if type(getattr(reply, name)) is not int or not 0 <= getattr(reply, name) < 1 << 53:
            raise ModelRefused(f"the model's {name} {short_repr(getattr(reply, name))} is not a whole number")
    return reply


class Model(Protocol):
    """A language model. `complete` returns the answer to a request. If it cannot, it raises `ModelFailed` if another
    attempt may succeed, and `ModelRefused` if another attempt would not help."""

    async def complete(self, request: ModelRequest, egress: Egress) -> ModelReply: ...


@dataclass(frozen=True)
class OpenAIModel:
    """A service with the API of OpenAI's chat completions.

    - `api_key`: the key, or a reference such as `secret://openai`, or None, if the service needs no key
    - `stream`: whether the service sends the answer as a stream of parts
    - `prices`: the prices for a million input tokens and for a million output tokens
    """

    model: str
    url: str = "https://api.openai.com/v1"
    api_key: str | None = None
    timeout: float = _TIMEOUT
    stream: bool = False
    prices: tuple[float, float] = (0.0, 0.0)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_text(self.model, "the model's name")
        if not 0 < self.timeout <= 600:
            raise OstinatoError(f"the model's timeout {self.timeout!r} is not from 0 to 600 seconds")
        if not isinstance(self.prices, Sequence) or len(self.prices) != 2 or not all(map(_is_price, self.prices)):
            raise OstinatoError(f"the model's prices {short_repr(self.prices)} are not two numbers, in and out")

    async def complete(self, request: ModelRequest, egress: Egress) -> ModelReply:
        body: dict[str, Any] = {"model": self.model, "messages": list(request.messages), **self.options}
        if request.tools:
            body["tools"] = [{"type": "function", "function": dict(tool)} for tool in request.tools]
        if request.structured:
            body["response_format"] = {"type": "json_object"}
        if self.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        resolved = resolve({"key": self.api_key or ""})
        headers = {"content-type": "application/json"}
        if self.api_key is not None:
            headers["authorization"] = f"Bearer {resolved.value['key']}"
        secrets = resolved.secrets | ({resolved.value["key"]} if self.api_key else set())
        url = f"{self.url.rstrip('/')}/chat/completions"
        try:
            answer = await egress.request(
                "POST",
                url,
                headers=headers,
                content=orjson.dumps(body),
                timeout=self.timeout,
                max_response=_LARGEST,
            )
        except EgressRefused as problem:
            raise ModelRefused(str(redact(str(problem), secrets))) from None
        except OstinatoError as problem:
            raise ModelFailed(str(redact(str(problem), secrets))) from None
        if answer.status != 200:
            shown = redact(answer.content[:_SHOWN].decode("utf-8", "replace"), secrets)
            transient = answer.status >= 500 or answer.status in _TRANSIENT
            raise (ModelFailed if transient else ModelRefused)(f"the model answered {answer.status}: {shown}")
        if answer.truncated:
            raise ModelRefused(f"the model's answer is longer than {_LARGEST:,} bytes")
        try:
            if self.stream:
                return self._priced(read_stream(answer.content, request.on_text))
            return self._priced(read_completion(orjson.loads(answer.content)))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as problem:
            raise ModelFailed(f"the model's answer cannot be read: {type(problem).__name__}: {problem}") from None

    def _priced(self, reply: ModelReply) -> ModelReply:
        price_in, price_out = self.prices
        cost = round(reply.tokens_in * price_in + reply.tokens_out * price_out)  # millionths: prices are per million
        return ModelReply(
            reply.text, reply.tool_calls, reply.model or self.model, reply.tokens_in, reply.tokens_out, cost
        )


def _is_price(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9


def read_completion(answer: Mapping[str, Any]) -> ModelReply:
    """Read an answer of chat completions that is not streamed."""
    message = answer["choices"][0]["message"]
    usage = answer.get("usage") or {}
    return ModelReply(
        message.get("content") or "",
        [_tool_call(call) for call in message.get("tool_calls") or ()],
        str(answer.get("model") or ""),
        int(usage.get("prompt_tokens") or 0),
        int(usage.get("completion_tokens") or 0),
    )


def read_stream(content: bytes, on_text: Callable[[str], None] | None = None) -> ModelReply:
    """Read a streamed answer: server-sent events whose deltas form one message. `on_text` is called with each part of
    the text. Raises ValueError if the stream is incomplete."""
    parts: list[str] = []
    calls: dict[int, dict[str, str]] = {}
    usage: Mapping[str, Any] = {}
    model, ended = "", False
    for line in _LINE_END.split(content.decode("utf-8")):
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            ended = True
            break
        event = orjson.loads(data)
        model = str(event.get("model") or model)
        usage = event.get("usage") or usage
        for choice in event.get("choices") or ():
            delta = choice.get("delta") or {}
            if delta.get("content"):
                parts.append(delta["content"])
                if on_text is not None:
                    on_text(delta["content"])
            for part in delta.get("tool_calls") or ():
                call = calls.setdefault(int(part.get("index", 0)), {"id": "", "name": "", "arguments": ""})
                function = part.get("function") or {}
                call["id"] = part.get("id") or call["id"]
                call["name"] = function.get("name") or call["name"]
                call["arguments"] += function.get("arguments") or ""
            ended = ended or bool(choice.get("finish_reason"))
    if not ended:
        raise ValueError("the stream broke off")
    tool_calls = [_tool_call({"id": call["id"], "function": call}) for _, call in sorted(calls.items())]
    tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    return ModelReply("".join(parts), tool_calls, model, *tokens)


def _tool_call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    arguments = orjson.loads(function.get("arguments") or "{}")
    if not isinstance(arguments, dict):
        raise ValueError(f"the arguments of {function['name']!r} are no object")
    return ToolCall(str(call.get("id") or function["name"]), str(function["name"]), arguments)


class ScriptedModel:
    """A model that answers from a script.

    Each answer is a text, a `ModelReply`, an exception, or a function of the request. After the last answer, the script
    starts again if `repeat` is true. Otherwise the model raises `ModelRefused`. `requests` has the requests that the
    model got.
    """

    def __init__(self, *answers: Any, repeat: bool = False) -> None:
        self._answers = answers
        self._repeat = repeat
        self.requests: list[ModelRequest] = []

    async def complete(self, request: ModelRequest, egress: Egress) -> ModelReply:
        number = len(self.requests)
        self.requests.append(request)
        if not self._answers or (number >= len(self._answers) and not self._repeat):
            raise ModelRefused(f"the script has {len(self._answers)} answers, and this is call {number + 1}")
        answer = self._answers[number % len(self._answers)]
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        if isinstance(answer, ModelReply):
            return answer
        if not isinstance(answer, str):
            raise OstinatoError(f"the script's answer {short_repr(answer)} is neither a text nor a ModelReply")
        return ModelReply(answer, model="scripted")
