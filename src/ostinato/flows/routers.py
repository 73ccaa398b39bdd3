"""Let the model choose the flow for a message.

`Detector` asks the model to classify the message, and `SchemaFlow` reads a field of its answer. The choice `classic`
means that no flow begins and the model answers. A router that is not sure returns its fallback, which is a flow or
`classic`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ostinato.errors import OstinatoError
from ostinato.flows.model import CLASSIC
from ostinato.flows.models import Model, ModelRequest

_ASK = "Decide which flow handles the user's message. Answer with one JSON object and nothing else."
CHOSEN = "chosen"


class Startable(Protocol):
    """What a router needs to know about a flow."""

    @property
    def description(self) -> str: ...

    def check(self, input: Mapping[str, Any] | None) -> None:
        """Raise `OstinatoError` if the flow cannot begin with this input."""
        ...


@dataclass(frozen=True, slots=True)
class Routed:
    """The decision of a router. `flow` is the name of a flow, or `classic` if the model answers instead. `why` is
    `chosen`, `unknown_flow`, `unreadable` or `low_confidence`. Unless `why` is `chosen`, `flow` is the router's
    fallback."""

    flow: str
    why: str = CHOSEN
    confidence: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {"flow": self.flow, "why": self.why, "confidence": self.confidence}


@dataclass(frozen=True)
class Detector:
    """Asks a model which flow fits a message. If `model` is None, the agent's own model is asked."""

    min_confidence: float
    fallback: str
    model: Model | None
    prompt: str | None

    def request(self, text: str, flows: Mapping[str, Startable]) -> ModelRequest:
        names = [*startable(flows), CLASSIC]
        schema = {
            "type": "object",
            "properties": {"flow": {"enum": names}, "confidence": {"type": "number", "minimum": 0, "maximum": 1}},
            "required": ["flow", "confidence"],
        }
        words = [
            self.prompt or _ASK,
            describe(flows),
            f"The JSON schema of the answer: {orjson.dumps(schema).decode()}",
        ]
        messages = [{"role": "system", "content": "\n".join(words)}, {"role": "user", "content": text}]
        return ModelRequest(messages, structured=True)

    def read(self, text: str, flows: Mapping[str, Startable]) -> Routed:
        """Return the decision that the model's answer `text` contains. If the answer is unusable or not confident
        enough, return the fallback."""
        answer = _object(text)
        if answer is None:
            return Routed(self.fallback, "unreadable")
        flow, confidence = answer.get("flow"), answer.get("confidence")
        if isinstance(confidence, bool) or not isinstance(confidence, int | float) or not 0 <= confidence <= 1:
            return Routed(self.fallback, "unreadable")
        if flow != CLASSIC and flow not in startable(flows):
            return Routed(self.fallback, "unknown_flow", float(confidence))
        if confidence < self.min_confidence:
            return Routed(self.fallback, "low_confidence", float(confidence))
        return Routed(flow, CHOSEN, float(confidence))


@dataclass(frozen=True)
class SchemaFlow:
    """A router that reads the chosen flow from a field of the model's JSON answer. If the field names a flow, that flow
    begins, and the answer is not sent. If the field is missing or `classic`, the answer is sent. Otherwise `fallback`
    is chosen."""

    field: str
    fallback: str

    def instruction(self, flows: Mapping[str, Startable]) -> str:
        """Return the instruction that tells the model how its answer can choose one of `flows`."""
        return (
            f"Answer with one JSON object: `reply` is what to say. If one of these flows handles the message, "
            f"set `{self.field}` to its name instead.\n{describe(flows)}"
        )

    def read(self, structured: Any, flows: Mapping[str, Startable]) -> Routed:
        """Return the decision in the model's answer. `structured` is the answer as JSON, or None if it cannot be
        read."""
        if not isinstance(structured, Mapping):
            return Routed(self.fallback, "unreadable")
        flow = structured.get(self.field)
        if flow is None or flow == CLASSIC:
            return Routed(CLASSIC)
        return Routed(flow) if flow in startable(flows) else Routed(self.fallback, "unknown_flow")


def startable(flows: Mapping[str, Startable]) -> list[str]:
    """Return the names of the flows that can begin without an input."""
    names = []
    for name, flow in flows.items():
        try:
            flow.check(None)
        except OstinatoError:
            continue
        names.append(name)
    return names


def describe(flows: Mapping[str, Startable]) -> str:
    """Return a text with one line for each flow that can begin without an input: its name and its description."""
    lines = [f"- {name}: {flows[name].description}".rstrip(": ") for name in startable(flows)]
    return "\n".join(["Flows:", *lines, f"- {CLASSIC}: none of them"])


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        answer = orjson.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
