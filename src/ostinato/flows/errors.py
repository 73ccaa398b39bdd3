"""Errors of agents."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.errors import InputError, OstinatoError


class AgentError(OstinatoError):
    """The base of errors about agents."""


class DefinitionError(AgentError):
    """A field of a schedule or campaign is wrong. `faults` are pairs: the path of a field, and what is wrong there."""

    def __init__(self, message: str, *faults: tuple[tuple[str | int, ...], str]) -> None:
        super().__init__(message)
        self.faults = faults


class Denied(AgentError):
    """The actor may not do this. An event `hitl:denied` was written."""


class AudienceTooLarge(AgentError):
    """A campaign would reach more people than its `max_recipients`. Nothing was sent."""


class VariantInputError(AgentError, InputError):
    """A flow does not accept the arguments of a campaign's variant.

    The arguments are the campaign's input, overridden by the variant's input. For each fault, `places` has the path of
    the wrong value in the campaign's definition. The path begins with `input` if the value is in the campaign's input,
    and otherwise with `options`.
    """

    def __init__(
        self,
        message: str,
        faults: Sequence[tuple[tuple[str | int, ...], str]],
        places: Sequence[tuple[str | int, ...]],
    ) -> None:
        super().__init__(message, faults)
        self.places = tuple(places)


class SegmentFailed(AgentError):
    """A resolver, the function that returns the users of a segment, raised an error or took too long."""


class ModelFailed(AgentError):
    """The model did not answer, or its answer cannot be used. Another attempt may succeed."""


class ModelRefused(AgentError):
    """The model's service refused the request, or the answer is invalid. Another attempt would not help."""


class NotSent(AgentError):
    """Raised by a transport if certainly nothing was delivered. If `retry` is true, another attempt may succeed."""

    def __init__(self, words: str, *, retry: bool = True) -> None:
        super().__init__(words)
        self.retry = retry


class AnswerTimedOut(AgentError, TimeoutError):
    """The user did not answer in time."""
