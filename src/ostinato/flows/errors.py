"""Errors of agents."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.errors import InputError, OstinatoError


class AgentError(OstinatoError):
    """The base of errors about agents."""


class DefinitionError(AgentError):
    """A schedule or a campaign has a field with a wrong value. `faults` is a tuple of pairs: the path of the field in
    the definition, and a description of the mistake."""

    def __init__(self, message: str, *faults: tuple[tuple[str | int, ...], str]) -> None:
        super().__init__(message)
        self.faults = faults


class Denied(AgentError):
    """The actor may not do this. An event `hitl:denied` was written."""


class AudienceTooLarge(AgentError):
    """A campaign would reach more people than its `max_recipients`. Nothing was sent."""


class VariantInputError(AgentError, InputError):
    """A flow does not accept the arguments of a campaign's variant.

    The arguments are the campaign's input, overridden by the variant's input. `places` has one path for each fault. A
    path begins with `input` if the wrong value comes from the campaign's input. Otherwise the path begins with
    `options` and leads to the variant's input.
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
    """The transport knows that nothing was delivered. With `retry`, another attempt may succeed."""

    def __init__(self, words: str, *, retry: bool = True) -> None:
        super().__init__(words)
        self.retry = retry


class AnswerTimedOut(AgentError, TimeoutError):
    """The user did not answer in time."""
