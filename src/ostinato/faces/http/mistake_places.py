"""Find the places of mistakes in a request body.

- `all_mistakes` is used for a body whose form is wrong. It also finds the mistakes in the fields whose form is right.
- `naming_argument_places` is used for every call. It finds an argument that the call refuses, or an input that the job
  refuses.
- The other functions find mistakes in the definition of a schedule or a campaign. `naming_places` uses the checks for
  files of schedules, so that a request and a file report the same places.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from pydantic import BaseModel

from ostinato.app import Ostinato
from ostinato.errors import ArgumentError, InputError, OstinatoError, SpecError
from ostinato.faces.http.validation_errors import BodyError, Mistake, mistake_in_body, mistakes, place_in_body
from ostinato.flows.errors import DefinitionError, VariantInputError
from ostinato.schedules.declared.files import find_mistakes, steps


async def all_mistakes(app: Ostinato, errors: Iterable[Mapping[str, Any]], model: Any, sent: object) -> list[Mistake]:
    """Return the mistakes in a request. `errors` are pydantic's errors, `model` is the model of the body, and `sent` is
    the body. If the body defines a schedule, the mistakes in its other fields are returned, too."""
    from ostinato.faces.http.shapes.schedules import Definition

    of_form = mistakes(errors, model)
    if not isinstance(sent, Mapping) or not isinstance(model, type) or not issubclass(model, Definition):
        return of_form
    fields = [name for name in Definition.model_fields if name in sent]
    parts = {name: sent[name] for name in fields if not any(one.is_in(place_in_body([name])) for one in of_form)}
    further = await asyncio.to_thread(find_mistakes, "schedule", parts, app.action_kinds)
    return of_form + [mistake_in_body(sent, path, words.removeprefix("spec: ")) for path, words in further]


@contextmanager
def naming_argument_places(body: object) -> Iterator[None]:
    """If the `with` block raises an `ArgumentError`, `InputError` or `SpecError`, raise a `BodyError` instead. The
    block carries out an API call, and `body` is the model of the request body.

    The `BodyError` names the places of the mistakes in `body`: the place of a wrong argument is the field with the same
    name. If `body` is not a model, or has no field for any of the wrong arguments, the error is raised unchanged.
    """
    try:
        yield
    except (ArgumentError, InputError, SpecError) as problem:
        if not isinstance(body, BaseModel):
            raise
        fields = {field.alias or name for name, field in type(body).model_fields.items()}
        faults = [(path, words) for path, words in _faults(problem) if path and path[0] in fields]
        if not faults:
            raise
        sent = body.model_dump(mode="json", by_alias=True, exclude_unset=True)
        secret = getattr(problem, "secret", False)
        mistakes = [mistake_in_body(sent, path, words, secret=secret) for path, words in faults]
        title = "invalid spec" if isinstance(problem, SpecError) else "invalid"
        raise BodyError(title, str(problem), mistakes) from None


def _faults(problem: ArgumentError | InputError | SpecError) -> list[tuple[tuple[str | int, ...], str]]:
    """Return (path, description) for each mistake. A path begins with the name of an argument of the call."""
    match problem:
        case ArgumentError():
            return [(problem.path, str(problem))]
        case InputError():
            return [((*problem.argument, *path), words) for path, words in problem.faults]
        case SpecError():
            return [(steps(problem.field), str(problem))]


@asynccontextmanager
async def naming_places(
    app: Ostinato, name: str, body: Mapping[str, Any], place: Sequence[str] = ()
) -> AsyncIterator[None]:
    """If the `async with` block raises an error about the definition of a schedule, raise a `BodyError` instead. The
    `BodyError` names the places of the mistakes. If no place can be found, the error is raised unchanged.

    `name` is the name of the schedule, and `body` is its definition. `place` is the path of the definition in the
    request body.
    """
    try:
        yield
    except OstinatoError as problem:
        if not isinstance(problem, SpecError | InputError) and type(problem) is not OstinatoError:
            raise
        secret = isinstance(problem, InputError) and problem.secret
        faults = await _faults_of_definition(app, name, body, problem)
        if not faults:
            raise
        whole: Mapping[str, Any] = body
        for step in reversed(place):
            whole = {step: whole}
        mistakes = [mistake_in_body(whole, (*place, *path), words, secret=secret) for path, words in faults]
        title = "invalid spec" if isinstance(problem, SpecError) else "invalid"
        words = mistakes[0].message if len(mistakes) == 1 else "; ".join(map(str, mistakes))
        raise BodyError(title, str(problem) if isinstance(problem, InputError) else words, mistakes) from None


@contextmanager
def naming_definition_places(body: Mapping[str, Any], options: Sequence[str] = ("options",)) -> Iterator[None]:
    """If the `with` block raises an error about the definition of an agent's schedule or campaign, raise a `BodyError`
    instead. An error about the input for a flow is replaced, too. The `BodyError` names the places of the mistakes in
    `body`, the definition. `options` is the path in `body` to a campaign's options."""
    try:
        yield
    except DefinitionError as problem:
        mistakes = [mistake_in_body(body, path, words) for path, words in problem.faults]
        raise BodyError("invalid", str(problem), mistakes) from None
    except VariantInputError as problem:
        places = [path if path[0] == "input" else (*options, *path[1:]) for path in problem.places]
        pairs = zip(places, problem.faults, strict=True)
        mistakes = [mistake_in_body(body, place, words) for place, (_, words) in pairs]
        if not mistakes:
            raise
        raise BodyError("invalid", str(problem), mistakes) from None


async def _faults_of_definition(
    app: Ostinato, name: str, body: Mapping[str, Any], problem: OstinatoError
) -> list[tuple[tuple[str | int, ...], str]]:
    """Return (path in `body`, description) for each mistake in `body`, the definition of the schedule `name`. `problem`
    is the error that the definition caused. Returns [] if no mistake can be found."""
    if isinstance(problem, InputError):
        base = _place_of_input(body)
        return [((*base, *path), words) for path, words in problem.faults]
    # In a thread: a large spec takes a while.
    mistakes = await asyncio.to_thread(find_mistakes, name, body, app.action_kinds)
    return [(path, words.removeprefix("spec: ")) for path, words in mistakes]


def _place_of_input(body: Mapping[str, Any]) -> tuple[str, ...]:
    action = body.get("action")
    if body.get("input") is None and isinstance(action, Mapping):
        return ("action", "http") if "http" in action else ("action", "input")
    return ("input",)
