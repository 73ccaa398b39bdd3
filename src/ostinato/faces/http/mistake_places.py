"""Find the places of mistakes in a request body that defines a schedule or a campaign.

The form of the body was already checked. The mistakes are in a spec, in an action, or in an input that the job refuses.
A schedule is checked as in a file of schedules, so a request and a file report the same places.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from ostinato.app import Ostinato
from ostinato.errors import InputError, OstinatoError, SpecError
from ostinato.faces.http.validation_errors import BodyError, Mistake, mistake_in_body
from ostinato.flows.errors import DefinitionError, VariantInputError
from ostinato.schedules.declared.files import find_mistakes


@asynccontextmanager
async def naming_places(app: Ostinato, name: str, body: Mapping[str, Any]) -> AsyncIterator[None]:
    """Context manager: turn an error about the definition of a schedule into a `BodyError`.

    The `BodyError` names the places of the mistakes in `body`. If no place is known, the original error is raised.
    """
    try:
        yield
    except OstinatoError as problem:
        if not isinstance(problem, SpecError | InputError) and type(problem) is not OstinatoError:
            raise
        mistakes = await _mistakes(app, name, body, problem)
        if not mistakes:
            raise
        title = "invalid spec" if isinstance(problem, SpecError) else "invalid"
        words = mistakes[0].message if len(mistakes) == 1 else "; ".join(map(str, mistakes))
        raise BodyError(title, str(problem) if isinstance(problem, InputError) else words, mistakes) from None


@contextmanager
def naming_definition_places(body: Mapping[str, Any], options: Sequence[str] = ("options",)) -> Iterator[None]:
    """Context manager: turn an error about the definition of an agent's schedule or campaign into a `BodyError`.

    The `BodyError` names the places of the mistakes in `body`, the body of the request. `options` is the path of a
    campaign's options in `body`.
    """
    try:
        with naming_input_places(body, options):
            yield
    except DefinitionError as problem:
        mistakes = [mistake_in_body(body, path, words) for path, words in problem.faults]
        raise BodyError("invalid", str(problem), mistakes) from None


@contextmanager
def naming_input_places(body: Mapping[str, Any], options: Sequence[str] = ("options",)) -> Iterator[None]:
    """Context manager: turn an `InputError` into a `BodyError`.

    The `BodyError` names the places of the mistakes in `body`, the body of the request. `options` is the path of a
    campaign's options in `body`.
    """
    try:
        yield
    except InputError as problem:
        places: list[tuple[str | int, ...]] = [("input", *path) for path, _ in problem.faults]
        if isinstance(problem, VariantInputError):
            places = [path if path[0] == "input" else (*options, *path[1:]) for path in problem.places]
        faults = zip(places, problem.faults, strict=True)
        mistakes = [mistake_in_body(body, place, words) for place, (_, words) in faults]
        raise BodyError("invalid", str(problem), mistakes) from None


async def _mistakes(app: Ostinato, name: str, body: Mapping[str, Any], problem: OstinatoError) -> Sequence[Mistake]:
    if isinstance(problem, InputError):
        base = _place_of_input(body)
        return [mistake_in_body(body, (*base, *path), words) for path, words in problem.faults]
    # In a thread: a large spec takes a while.
    mistakes = await asyncio.to_thread(find_mistakes, name, body, app.action_kinds)
    return [mistake_in_body(body, path, words.removeprefix("spec: ")) for path, words in mistakes]


def _place_of_input(body: Mapping[str, Any]) -> tuple[str, ...]:
    action = body.get("action")
    if body.get("input") is None and isinstance(action, Mapping):
        return ("action", "http") if "http" in action else ("action", "input")
    return ("input",)
