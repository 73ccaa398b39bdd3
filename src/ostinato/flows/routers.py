"""Let the model choose the flow for a message.

A `Detector` asks the model to classify the message before anything is answered. A `SchemaFlow` reads the choice from a
field of the model's answer to the user.

The choice `classic` means that no flow begins, and the model answers the user. A router that cannot decide chooses its
`fallback`, which is a flow or `classic`.
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
    """The decision of a router. If the model chose `flow`, `why` is `chosen`. If `flow` is the fallback, `why` is the
    reason: `unknown_flow`, `unreadable` or `low_confidence`."""

    flow: str
    why: str = CHOSEN
    confidence: float | None = None

    def as_json(self) -> dict[str, Any]:
        return {"flow": self.flow, "why": self.why, "confidence": self.confidence}


@dataclass(frozen=True)
class Detector:
    """Asks a model which flow fits a message. If `model` is None, it asks the agent's own model."""

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
        """Read the decision from the model's answer. If the answer is unusable or uncertain, return the fallback."""
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
    """A router that reads the chosen flow from a field of the model's JSON answer.

    - If the field names a flow, that flow begins, and the answer is not sent.
    - If the field is missing or `classic`, the answer is sent.
    - If the field has another value, or the answer is not a JSON object, `fallback` is chosen.
    """

    field: str
    fallback: str

    def instruction(self, flows: Mapping[str, Startable]) -> str:
        """Return the text that explains to the model how to choose one of `flows` in its answer."""
        return (
            f"Answer with one JSON object: `reply` is what to say. If one of these flows handles the message, "
            f"set `{self.field}` to its name instead.\n{describe(flows)}"
        )

    def read(self, structured: Any, flows: Mapping[str, Startable]) -> Routed:
        """Return the decision in `structured`, the model's answer as parsed JSON. If the answer was not JSON,
        `structured` is None, and the decision is the fallback."""
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
    """Return one line for each flow that can begin without an input: its name and its description."""
    lines = [f"- {name}: {flows[name].description}".rstrip(": ") for name in startable(flows)]
    return "\n".join(["Flows:", *lines, f"- {CLASSIC}: none of them"])


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        answer = orjson.loads(text)
    except ValueError:
        return None
    return answer if isinstance(answer, dict) else None
