"""Read and write files of schedules, YAML or JSON. Reading reports all mistakes with their line and column."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path as FilePath
from typing import Any, NamedTuple, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from ostinato.documents import Document, DocumentProblem, Path, Place, read_document
from ostinato.errors import OstinatoError, SpecError, did_you_mean, short_repr, show_wrong
from ostinato.schedules.actions import NO_KINDS, OPTIONS, ActionKinds, Maker, join_with_or, shapes_of
from ostinato.schedules.declared.plan import catchup_form, definition
from ostinato.schedules.declared.problems import FileError, FileProblem
from ostinato.schedules.model import Policies, Schedule
from ostinato.schedules.validation import KEYS, DefinitionChecks, checked_spec, define, read_name
from ostinato.when import Spec, manual, read_spec
from ostinato.when.instants import SECOND
from ostinato.when.size_limits import check_document_size
from ostinato.when.spec_text import parse_spec_text

Wrong: TypeAlias = tuple[Path, str]
_NEEDED = {"spec": "write spec: {} for one that runs only when it is triggered", "action": "name a job: action: report"}
LEFT_OUT = "x-left-out"  # the key of an exported file with the schedules that it cannot declare
_YES_OR_NO = ("paused", "at_most_once")
_SPEC = tuple("cron" if one.name == "crons" else one.name for one in fields(Spec))


def _nowhere(function: Callable[..., Any]) -> str:
    raise OstinatoError(f"{function!r} is not a job's name")


@dataclass(frozen=True, slots=True)
class ScheduleFile:
    """The schedules of a file. `entries` maps a schedule's name to the arguments of `create`. `places` maps the name to
    the place of its action in the file."""

    origin: str
    entries: Mapping[str, Mapping[str, Any]]
    file: str
    places: Mapping[str, Place]

    def each_draft(self, draft: Callable[..., Schedule]) -> Iterator[Schedule | FileProblem]:
        """Build the drafts one by one. Yield a FileProblem in place of a draft that cannot be built."""
        for name, arguments in self.entries.items():
            try:
                yield draft(name, origin=self.origin, **arguments)
            except OstinatoError as problem:
                yield FileProblem(self.file, self.places[name], str(problem), name)


def checked_drafts(results: Iterable[Schedule | FileProblem]) -> list[Schedule]:
    """Return the drafts among the results of `each_draft`. Raises FileError if there are problems."""
    listed = list(results)
    problems = [result for result in listed if isinstance(result, FileProblem)]
    if problems:
        raise FileError(problems)
    return [result for result in listed if not isinstance(result, FileProblem)]


def read_schedules(path: str | FilePath, *, name: str | None = None, kinds: ActionKinds = NO_KINDS) -> ScheduleFile:
    """Read a file of schedules. The origin of these schedules is `file:{name}`. By default, `name` is the file's name.
    `kinds` are the kinds of actions other than jobs. Raises FileError with all mistakes, or OstinatoError if the file
    cannot be read."""
    file = FilePath(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise OstinatoError(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise OstinatoError(f"{path} is not UTF-8: {problem.reason} at byte {problem.start}") from None
    return parse_schedules(text, str(path), name=name or file.name, kinds=kinds)


def parse_schedules(
    text: str, file: str = "schedules.yaml", *, name: str | None = None, kinds: ActionKinds = NO_KINDS
) -> ScheduleFile:
    """Read a text as `read_schedules` reads a file. `file` is the text's name in errors."""
    document = read_yaml(text, file)
    reading = _Reading(document, file, kinds)
    entries = dict(reading.entries())
    if reading.problems:
        raise FileError(list(dict.fromkeys(reading.problems)))
    places = {key: document.positions.place(("schedules", key, "action")) for key in entries}
    return ScheduleFile(f"file:{name or FilePath(file).name}", entries, file, places)


def read_yaml(text: str, file: str) -> Document:
    """Read a text as JSON if the name `file` ends with `.json`, otherwise as YAML. Raises FileError if a
    mistake stops the parser before the end of the text. Other mistakes are in `problems` of the returned document."""
    document = read_document(text, file)
    if not document.readable:
        reason = document.problems[-1]
        raise FileError([FileProblem(file, reason.place, reason.message)])
    return document


class _Reading:
    def __init__(self, document: Document, file: str, kinds: ActionKinds) -> None:
        self._document = document
        self._file = file
        self._kinds = shapes_of(kinds)
        # A file is read without a store, so the jobs are unknown; `apply` checks their inputs.
        self._checks = DefinitionChecks(Maker(lambda _: None, self._kinds), _nowhere, SECOND)
        self.problems = [
            FileProblem(file, problem.place, _sentence(problem), _schedule_at(problem.path))
            for problem in document.problems
        ]

    def entries(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        whole = self._document.value
        hint = "write\nschedules:\n  nightly:\n    spec: '0 2 * * *'\n    action: report"
        if not isinstance(whole, dict):
            self._wrong((), f"a file of schedules is an object with the key 'schedules'; {hint}")
            return
        for key in whole:
            if key != "schedules" and not key.startswith("x-"):
                near = did_you_mean(key, ["schedules"]) or "write 'schedules'; keys that begin with 'x-' are ignored"
                self._wrong((key,), f"{short_repr(key)} is not part of a file of schedules; {near}", key=True)
        if "schedules" not in whole:
            if not any(did_you_mean(key, ["schedules"]) for key in whole):
                self._wrong((), f"the key 'schedules' is missing; {hint}")
            return
        if not isinstance(whole["schedules"], dict):
            self._wrong(
                ("schedules",), f"schedules {short_repr(whole['schedules'])} is not an object; write {{}} for none"
            )
            return
        for name, document in whole["schedules"].items():
            arguments = self._entry(name, document)
            if arguments is not None:
                yield name, arguments

    def _entry(self, name: str, document: Any) -> Mapping[str, Any] | None:
        here: Path = ("schedules", name)
        before = len(self.problems)
        try:
            read_name(name)
        except OstinatoError as problem:
            self._wrong(here, str(problem), key=True)
        if not isinstance(document, dict):
            self._wrong(here, f"{short_repr(document)} is not an object with spec and action", name)
            return None
        arguments: dict[str, Any] = {}
        for key, value in document.items():
            if key not in KEYS:
                hint = did_you_mean(key, KEYS) or f"there are {', '.join(KEYS)}"
                self._wrong((*here, key), f"a schedule has no {key!r}; {hint}", name, key=True)
                continue
            arguments[key] = value
            if key == "spec":
                arguments[key] = self._spec(name, value)
            elif key == "action":
                self._action(name, value)
            else:
                self._part((*here, key), name, key, value, {key: value})
        for key, hint in _NEEDED.items():
            if key not in document and not any(did_you_mean(other, [key]) for other in document if other not in KEYS):
                self._wrong(here, f"it has no {key}; {hint}", name, key=True)
        if len(self.problems) > before:
            return None
        whole = {key: value for key, value in arguments.items() if key != "paused"}
        self._part((*here, "action"), name, "action", document["action"], whole)
        return arguments

    def _spec(self, name: str, value: Any) -> Spec:
        here: Path = ("schedules", name, "spec")
        try:
            return checked_spec(parse_spec_text(value) if isinstance(value, str) else value, SECOND)
        except SpecError as problem:
            mistakes = list(_each_wrong(value)) if isinstance(value, dict) else []
            for path, message in mistakes or [(_steps_in_spec(problem.field), str(problem))]:
                unknown = isinstance(value, dict) and bool(path) and path[0] not in _SPEC
                self._wrong((*here, *path), f"spec: {message}", name, key=unknown)
        return manual()

    def _action(self, name: str, value: Any) -> None:
        here: Path = ("schedules", name, "action")
        if not isinstance(value, dict):
            if not isinstance(value, str):
                words = "is not a job's name or an object; write {job: report}"
                self._wrong(here, f"action{show_wrong(value)} {words}", name)
            else:
                self._part(here, name, "action", value, {"action": value})
            return
        targets = ("job", "http", *self._kinds)
        named = [target for target in targets if target in value]
        own_fields = tuple(field for target in named if target in self._kinds for field in self._kinds[target].fields)
        keys = (*targets, "input", "options", *own_fields, *OPTIONS)
        near = [did_you_mean(key, targets) for key in value if key not in keys]
        if len(named) != 1 and not any(near):
            forms = join_with_or(["{job: report}", "{http: …}", *(f"{{{kind}: …}}" for kind in self._kinds)])
            several = f"{' and '.join(map(repr, named))}; leave one out"
            self._wrong(here, f"the action names {several if named else f'no target; write {forms}'}", name)
        # Options are read with the input, which their keys may name.
        input = value.get("http") if "http" in named else value.get("input")
        target = {"job": "?", "input": input} if isinstance(input, dict) else {"job": "?"}
        for key, part in value.items():
            inner = (*here, key)
            if key not in keys:
                hint = did_you_mean(key, keys) or f"there are {', '.join(keys)}"
                self._wrong(inner, f"an action has no {key!r}; {hint}", name, key=True)
            elif key in ("job", *self._kinds) and (not isinstance(part, str) or not part):
                hint = f"write {key}: name" if isinstance(part, dict | list) else "put it in quotes"
                self._wrong(inner, f"{key}{show_wrong(part)} is not a {key}'s name; {hint}", name)
            elif key in ("input", "http", "options") and not isinstance(part, dict):
                self._wrong(inner, f"{key}{show_wrong(part)} is not an object with names", name)
            elif key == "options":
                for option, setting in part.items():
                    self._part((*inner, option), name, option, setting, {"action": {**target, option: setting}})
            elif key in OPTIONS:
                self._part(inner, name, key, part, {"action": {**target, key: part}})

    def _part(self, path: Path, name: str, key: str, value: Any, part: Mapping[str, Any]) -> None:
        """Check some settings of a schedule. If there is a mistake, add it to `problems`, with its place in the file.

        - `path`: the place of the settings in the document
        - `name`: the name of the schedule
        - `key`, `value`: the name and the value of the setting that the error message names
        - `part`: the settings to check, as a dict for `define`; not used if the setting `key` must be true or false
        """
        if key in _YES_OR_NO:
            if not isinstance(value, bool):
                self._wrong(path, f"{key} {short_repr(value)} is neither true nor false", name)
            return
        try:
            define(Schedule("", name, manual()), part, self._checks)
        except OstinatoError as problem:
            self._wrong(path, str(problem), name)
        except (TypeError, ValueError, AttributeError, KeyError) as problem:
            self._wrong(path, f"{key} {short_repr(value)} cannot be read: {problem}", name)

    def _wrong(self, path: Path, message: str, schedule: str | None = None, *, key: bool = False) -> None:
        place = self._document.positions.place(path, key=key)
        self.problems.append(FileProblem(self._file, place, message, schedule))


def _sentence(problem: DocumentProblem) -> str:
    return f"{problem.message}; {problem.suggestion}" if problem.suggestion else problem.message


def _schedule_at(path: Path) -> str | None:
    return str(path[1]) if path[:1] == ("schedules",) and path[1:] else None


def steps(field: str) -> Path:
    """Turn the field of an error, such as `exclude.dates[1]`, into the path `("exclude", "dates", 1)`."""
    parts = field.replace("[", ".[").split(".") if field else []
    return tuple(int(part[1:-1]) if part.startswith("[") and part[1:-1].isdigit() else part for part in parts)


def _steps_in_spec(field: str) -> Path:
    """Turn the field of a `SpecError` into a path in the spec. The path of the whole spec is ()."""
    return () if field == "spec" else steps(field)


class _Paths(_Reading):
    """Checks a definition outside a file, and reports mistakes with paths instead of lines."""

    def __init__(self, kinds: ActionKinds) -> None:
        super().__init__(Document(), "", kinds)
        self.paths: list[Wrong] = []

    def _wrong(self, path: Path, message: str, schedule: str | None = None, *, key: bool = False) -> None:
        super()._wrong(path, message, schedule, key=key)
        self.paths.append((path[2:], message))


def find_mistakes(name: str, parts: Mapping[str, Any], kinds: ActionKinds) -> list[Wrong]:
    """Return the mistakes in some or all parts of a schedule's definition, each as (path, message). A missing part is
    no mistake. Mistakes that can only be found with a store are not returned."""
    reading = _Paths(kinds)
    reading._entry(name, {"spec": {}, **parts})
    return [(path, message) for path, message in dict.fromkeys(reading.paths) if path]


def _each_wrong(spec: Mapping[str, Any]) -> Iterator[Wrong]:
    """Yield the mistakes in a spec as (path, message). The time zone and the dialect are read first, because the other
    parts depend on them. If the spec is too large, only its size is reported."""
    try:
        check_document_size(spec)
    except SpecError as problem:
        yield _steps_in_spec(problem.field), str(problem)
        return
    by: dict[str, Any] = {}
    for key in sorted(spec, key=lambda key: key not in ("tz", "tz_data", "dialect")):
        if spec[key] is None:  # absent, unless nothing else says when
            continue
        several = isinstance(spec[key], list) and key != "exclude"
        for number, part in enumerate(spec[key] if several else [spec[key]]):
            try:
                read_spec({**by, key: [part] if several else part})
            except SpecError as problem:
                path = steps(problem.field) if problem.field.startswith(key) else (key,)
                if several and path[1:2] == (0,):
                    path = (key, number, *path[2:])
                yield path, str(problem).replace(f"{key}[0]", f"{key}[{number}]", 1)
            else:
                if key in ("tz", "tz_data", "dialect"):
                    by[key] = part


def dump_schedules(schedules: Iterable[Schedule], *, form: str = "yaml") -> str:
    """Return the text of a file that creates the same schedules in another store. The file includes pauses, remaining
    actions and notes."""
    return write_document({one.name: entry(one) for one in schedules}, form=form)


class Entry(NamedTuple):
    """A schedule in an exported file. `fields` is empty if the schedule is left out; `left_out` then says why."""

    name: str
    fields: Mapping[str, Any]
    left_out: str | None = None


def export_entry(schedule: Schedule, maker: Maker) -> Entry:
    reason = maker.refuse_export(schedule)
    return Entry(schedule.name, entry(schedule) if reason is None else {}, reason)


def write_entries(entries: Iterable[Entry], *, form: str = "yaml") -> str:
    listed = list(entries)
    return write_document(
        {one.name: one.fields for one in listed if one.left_out is None},
        left_out={one.name: one.left_out for one in listed if one.left_out is not None},
        form=form,
    )


def write_document(
    entries: Mapping[str, Mapping[str, Any]], *, left_out: Mapping[str, str] | None = None, form: str = "yaml"
) -> str:
    """Return the text of a file with these entries. `left_out` has the names of schedules that have no entry, with the
    reasons. They are written under a key that is ignored when the file is read."""
    whole: dict[str, Any] = {LEFT_OUT: dict(left_out)} if left_out else {}
    whole["schedules"] = dict(entries)
    if form == "json":
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    if form != "yaml":
        raise OstinatoError(f"form {form!r} is unknown; use 'yaml' or 'json'")
    yaml = YAML(pure=True)
    yaml.default_flow_style = False
    yaml.width = 1_000_000  # do not break lines, so that files are easy to compare
    written = StringIO()
    yaml.dump(_quoted(whole), written)
    return written.getvalue()


def _quoted(value: Any) -> Any:
    """Return a copy of a value for YAML. Its texts with line breaks or other invisible characters are put into double
    quotes, where these characters appear as escapes."""
    if isinstance(value, str):
        return value if value.isprintable() else DoubleQuotedScalarString(value)
    if isinstance(value, Mapping):
        return {_quoted(key): _quoted(one) for key, one in value.items()}
    return [_quoted(one) for one in value] if isinstance(value, list) else value


_USUAL = Policies()


def entry(schedule: Schedule) -> dict[str, Any]:
    """Return the entry of a schedule in a file, without defaults."""
    fields = definition(schedule)
    fields["spec"] = _shortest(schedule.spec, fields["spec"])
    if set(fields["action"]) == {"job"}:
        fields["action"] = fields["action"]["job"]
    if schedule.policies.overlap is _USUAL.overlap:
        del fields["overlap"]
    if fields["catchup"] == catchup_form(_USUAL.catchup):
        del fields["catchup"]
    if schedule.paused is not None:
        fields["paused"] = True
    if schedule.remaining is not None:
        fields["remaining"] = schedule.remaining
    if schedule.notes:
        fields["notes"] = schedule.notes
    return fields


def _shortest(spec: Spec, form: Mapping[str, Any]) -> Any:
    """Return the shortest form of a spec for a file: a cron string, if this string alone means the same spec, otherwise
    the dict `form`."""
    if set(form) == {"cron"} and len(spec.crons) == 1:
        try:
            if parse_spec_text(spec.crons[0]) == spec:
                return spec.crons[0]
        except SpecError:
            pass
    return dict(form)
