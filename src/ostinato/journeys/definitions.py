"""Check, store and load definitions. A stored version never changes, so parsed versions can be cached."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson

from ostinato.engine.rows import audit
from ostinato.errors import Conflict, NotFound, OstinatoError, did_you_mean
from ostinato.journeys.checks import check
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Definition, draft, read
from ostinato.journeys.language.openapi import read_documents
from ostinato.journeys.problems import JourneyProblem, only_errors, sort_problems
from ostinato.journeys.rows import dump
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.store import TABLES, statement
from ostinato.journeys.task_kind import Plugins
from ostinato.store.columns import reader
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros, to_datetime

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?")
# Parsed versions by namespace, name and version.
DefinitionCache: TypeAlias = dict[tuple[str, str, str], Definition]
_CACHED = 1000


class InvalidDefinition(OstinatoError):
    """Raised if a document is not a valid definition. `problems` lists all errors and warnings."""

    def __init__(self, file: str, problems: Sequence[JourneyProblem]) -> None:
        wrong = only_errors(problems)
        super().__init__("\n".join(f"{file}:{one}" for one in wrong))
        self.file = file
        self.problems = list(problems)

    def problem_members(self) -> dict[str, Any]:
        return {"problems": [problem.as_dict() for problem in self.problems]}


@dataclass(frozen=True, slots=True)
class CheckedDefinition:
    """A document that was read and checked without errors. `problems` holds the warnings."""

    definition: Definition
    file: str
    source: str
    problems: tuple[JourneyProblem, ...] = ()

    @property
    def digest(self) -> str:
        """A hash of the content. Line endings do not change the hash."""
        whole = dump([self.source, self.definition.documents]).replace("\\r\\n", "\\n")
        return hashlib.sha256(whole.encode()).hexdigest()


class DefinitionRow(NamedTuple):
    namespace: str
    name: str
    version: str
    kind: str
    file: str
    digest: str
    created: Micros
    actor: str | None
    source: str
    documents: str | None


@dataclass(frozen=True, slots=True)
class DefinitionInfo:
    """A stored version of a definition. `source` and `warnings` are set only by calls whose docstring says so."""

    name: str
    version: str
    kind: str
    file: str
    digest: str
    created: datetime
    actor: str | None = None
    source: str | None = None
    warnings: tuple[JourneyProblem, ...] = ()


def check_text(
    text: str,
    file: str,
    plugins: Plugins,
    documents: Mapping[str, str] | None = None,
    settings: JourneySettings | None = None,
) -> CheckedDefinition:
    """Read and check the text of a definition, and return the checked definition. Raise `InvalidDefinition` if the text
    has an error. This may take seconds, so run it in a thread.

    `documents` maps each reference in the definition to the text of the document that it refers to. If `documents` is
    None, the documents are read from the folder of `file`.
    """
    document = read_document(text, file)
    written = draft(document)
    if written.definition is None:
        raise InvalidDefinition(file, written.problems)
    beside = read_documents(written.definition, Path(file)) if documents is None else dict(documents)
    definition = replace(written.definition, documents=beside)
    problems_ = check(definition, document.positions, plugins, settings=settings, unread=written.unread)
    problems = sort_problems([*written.problems, *problems_])
    if only_errors(problems):
        raise InvalidDefinition(file, problems)
    return CheckedDefinition(definition, file, text, tuple(problems))


def find_problems(
    text: str,
    file: str,
    plugins: Plugins,
    documents: Mapping[str, str] | None = None,
    settings: JourneySettings | None = None,
) -> list[JourneyProblem]:
    """Return all errors and warnings about the text of a definition. The parameters are those of `check_text`."""
    try:
        return list(check_text(text, file, plugins, documents, settings).problems)
    except InvalidDefinition as wrong:
        return wrong.problems


def store_definitions(
    definitions: Sequence[CheckedDefinition], namespace: str, actor: str | None, now: Micros
) -> Operation[list[bool]]:
    """Store versions of definitions. Return for each definition whether its version is new. Raise `Conflict` if a
    version is already stored with other content."""
    rows: list[Row] = []
    for checked in definitions:
        definition = checked.definition
        documents = dump(definition.documents) if definition.documents else None
        about = (definition.name, definition.version, definition.kind, checked.file, checked.digest)
        rows.append(DefinitionRow(namespace, *about, now, actor, checked.source, documents))
    new = {(name, version) for _, name, version in (yield statement("insert_definitions", rows))}
    for checked in definitions:
        definition = checked.definition
        if (definition.name, definition.version) not in new:
            (row,) = yield statement(
                "definition", namespace=namespace, name=definition.name, version=definition.version
            )
            if DefinitionRow(*row).digest != checked.digest:
                raise Conflict(
                    f"{checked.file}: journey {definition.name!r} {definition.version} is on record with another "
                    "content; a version never changes, so give this one a new version"
                )
    events = [audit(now, namespace, "journey:deployed", name, actor, version=version) for name, version in sorted(new)]
    if events:
        yield sql("insert_events", events)
    return [(checked.definition.name, checked.definition.version) in new for checked in definitions]


@lru_cache(maxsize=512)
def _read(source: str, file: str, documents: str | None) -> Definition:
    definition, problems = read(read_document(source, file))
    if definition is None:
        raise InvalidDefinition(file, problems)
    return definition if documents is None else replace(definition, documents=orjson.loads(documents))


def load_definition(
    namespace: str, name: str, version: str, cache: DefinitionCache | None = None
) -> Operation[Definition]:
    """Return one version of a definition. If the version is not in `cache`, read it from the store, and add it to the
    cache. Raise `NotFound` if the version is not stored.

    Pass a cache only in reads. A transaction that writes could cache a version that is never committed.
    """
    if cache is not None and (cached := cache.get((namespace, name, version))) is not None:
        return cached
    rows = yield statement("definition", namespace=namespace, name=name, version=version)
    if not rows:
        raise NotFound(f"there is no journey {name!r} {version} in namespace {namespace!r}")
    row = DefinitionRow(*rows[0])
    definition = _read(row.source, row.file, row.documents)
    if cache is not None:
        if len(cache) >= _CACHED:
            cache.clear()
        cache[namespace, name, version] = definition
    return definition


def find_definition(
    namespace: str, name: str, version: str | None, cache: DefinitionCache | None = None
) -> Operation[Definition]:
    """Return a version of a definition, or the latest if `version` is None. Raise `NotFound` if there is none."""
    if version is None:
        rows = yield statement("definition_versions", namespace=namespace, name=name)
        versions = [definition_info(row).version for row in rows]
        if not versions:
            some = yield statement("list_definitions", namespace=namespace, name="", version="", limit=1000)
            hint = did_you_mean(name, {definition_info(row).name for row in some})
            raise NotFound(f"there is no journey {name!r} in namespace {namespace!r}{'; ' + hint if hint else ''}")
        version = latest(versions)
    return (yield from load_definition(namespace, name, version, cache))


def latest(versions: Iterable[str]) -> str:
    """Return the highest version by semantic versioning. A pre-release counts only if there is no release."""
    return max(versions, key=_precedence)


def _precedence(version: str) -> tuple[object, ...]:
    match = _VERSION.match(version)
    if match is None:
        return (False, (), (), version)
    numbers = tuple(int(part) for part in match.group(1, 2, 3))
    before = match[4]
    parts = tuple((0, int(p), "") if p.isdigit() else (1, 0, p) for p in (before or "").split(".") if p)
    return (before is None, numbers, parts, version)


# Reads a row with the columns `{definition_info_columns}`.
definition_info = reader(DefinitionInfo, TABLES["definition_info"].columns, created=to_datetime)


def whole_definition_info(row: Row) -> DefinitionInfo:
    """Return a `DefinitionInfo` with its `source`, from a row of the statement `definition`."""
    _, *info, source, _ = row
    return replace(definition_info(info), source=source)
