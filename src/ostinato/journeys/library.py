"""Definitions on record: each version is stored once and never changes. What was read is kept, since it cannot become
another."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import orjson

from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound, OstinatoError, did_you_mean
from ostinato.journeys.apis import documents_of
from ostinato.journeys.checks import check
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Definition, draft, read
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.problems import Problem, errors, in_order
from ostinato.journeys.rows import dump
from ostinato.journeys.settings import JourneySettings
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros, to_datetime

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")


# Versions that were read from one store, by namespace, name and version: none of them ever changes.
Shelf: TypeAlias = dict[tuple[str, str, str], Definition]
_SHELF = 1000


class Invalid(OstinatoError):
    """A document that is no definition. `problems` say everything that is wrong with it."""

    def __init__(self, file: str, problems: Sequence[Problem]) -> None:
        wrong = errors(problems)
        super().__init__("\n".join(f"{file}:{one}" for one in wrong))
        self.file = file
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Checked:
    """A document that was read and checked; `problems` are warnings."""

    definition: Definition
    file: str
    source: str
    problems: tuple[Problem, ...] = ()

    @property
    def digest(self) -> str:
        """The same for the same content, however the lines end."""
        whole = dump([self.source, self.definition.documents]).replace("\\r\\n", "\\n")
        return hashlib.sha256(whole.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class DefinitionInfo:
    """A version on record. `source` is its text, where that was asked for; `warnings`, where it was just checked."""

    name: str
    version: str
    kind: str
    file: str
    digest: str
    created: datetime
    actor: str | None = None
    source: str | None = None
    warnings: tuple[Problem, ...] = ()


def checked(
    text: str,
    file: str,
    plugins: Plugins,
    documents: Mapping[str, str] | None = None,
    settings: JourneySettings | None = None,
) -> Checked:
    """A text that can be stored, with the documents it refers to: as given, or read from beside its file. It takes a
    while: not for the event loop."""
    document = read_document(text, file)
    written = draft(document)
    if written.definition is None:
        raise Invalid(file, written.problems)
    beside = documents_of(written.definition, Path(file)) if documents is None else dict(documents)
    definition = replace(written.definition, documents=beside)
    found = check(definition, document.marked, plugins, settings=settings, unread=written.unread)
    problems = in_order([*written.problems, *found])
    if errors(problems):
        raise Invalid(file, problems)
    return Checked(definition, file, text, tuple(problems))


def problems_of(
    text: str,
    file: str,
    plugins: Plugins,
    documents: Mapping[str, str] | None = None,
    settings: JourneySettings | None = None,
) -> list[Problem]:
    """Everything that is to be said about a text, errors and warnings."""
    try:
        return list(checked(text, file, plugins, documents, settings).problems)
    except Invalid as wrong:
        return wrong.problems


def keep(some: Sequence[Checked], namespace: str, actor: str | None, now: Micros) -> Operation[list[bool]]:
    """Put versions on record; says of each whether it is new. The same version with another content is refused."""
    rows: list[Row] = []
    for one in some:
        made = one.definition
        documents = dump(made.documents) if made.documents else None
        about = (made.name, made.version, made.kind, one.file, one.source, one.digest)
        rows.append((namespace, *about, now, actor, documents))
    new = {(row[1], row[2]) for row in (yield sql("insert_definitions", rows))}
    for one in some:
        made = one.definition
        if (made.name, made.version) not in new:
            (there,) = yield sql("definition", namespace=namespace, name=made.name, version=made.version)
            if there[6] != one.digest:
                raise Conflict(
                    f"{one.file}: journey {made.name!r} {made.version} is on record with another content; a version "
                    "never changes, so give this one a new version"
                )
    told = [audit(now, namespace, "journey:deployed", name, actor, version=version) for name, version in sorted(new)]
    if told:
        yield sql("insert_events", told)
    return [(one.definition.name, one.definition.version) in new for one in some]


@lru_cache(maxsize=512)
def _read(source: str, file: str, documents: str | None) -> Definition:
    definition, problems = read(read_document(source, file))
    if definition is None:
        raise Invalid(file, problems)
    return definition if documents is None else replace(definition, documents=orjson.loads(documents))


def load(namespace: str, name: str, version: str, shelf: Shelf | None = None) -> Operation[Definition]:
    """One version. With a `shelf`, for those who read what is committed: it may stand there."""
    if shelf is not None and (known := shelf.get((namespace, name, version))) is not None:
        return known
    rows = yield sql("definition", namespace=namespace, name=name, version=version)
    if not rows:
        raise NotFound(f"there is no journey {name!r} {version} in namespace {namespace!r}")
    found = _read(rows[0][5], rows[0][4], rows[0][9])
    if shelf is not None:
        if len(shelf) >= _SHELF:
            shelf.clear()
        shelf[namespace, name, version] = found
    return found


def find(namespace: str, name: str, version: str | None, shelf: Shelf | None = None) -> Operation[Definition]:
    """A version, or the latest."""
    if version is None:
        versions = [row[2] for row in (yield sql("definition_versions", namespace=namespace, name=name))]
        if not versions:
            some = yield sql("list_definitions", namespace=namespace, name="", version="", limit=1000)
            hint = did_you_mean(name, {row[1] for row in some})
            raise NotFound(f"there is no journey {name!r} in namespace {namespace!r}{'; ' + hint if hint else ''}")
        version = latest(versions)
    return (yield from load(namespace, name, version, shelf))


def latest(versions: Iterable[str]) -> str:
    """The highest version by semantic versioning; one before a release only where there is no release."""
    return max(versions, key=_precedence)


def _precedence(version: str) -> tuple[object, ...]:
    found = _VERSION.match(version)
    if found is None:
        return (False, (), (), version)
    numbers = tuple(int(part) for part in found.group(1, 2, 3))
    before = found[4]
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in (before or "").split(".") if p)
    return (before is None, numbers, parts, version)


def definition_info(row: Row) -> DefinitionInfo:
    """From `definition_versions` and `list_definitions`."""
    _, name, version, kind, file, digest, created, actor = row
    return DefinitionInfo(name, version, kind, file, digest, to_datetime(created), actor)


def whole_definition_info(row: Row) -> DefinitionInfo:
    """From `definition`."""
    _, name, version, kind, file, source, digest, created, actor, _ = row
    return DefinitionInfo(name, version, kind, file, digest, to_datetime(created), actor, source)
