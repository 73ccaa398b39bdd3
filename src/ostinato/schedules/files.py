"""Schedules in a file, YAML or JSON, both ways. Reading checks everything, says all that is wrong with its line and
column, and does nothing; what was read is applied as a whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path as FilePath
from typing import Any, TypeAlias

from ruamel.yaml import YAML
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from ostinato.errors import OstinatoError, SpecError, did_you_mean, shown
from ostinato.schedules.declared import catchup_form, definition
from ostinato.schedules.define import KEYS, OPTIONS, Doors, checked_spec, define, read_name
from ostinato.schedules.making import Maker
from ostinato.schedules.marked import FileError, Marked, Path, Place, Problem, parts, read_marked
from ostinato.schedules.model import Policies, Schedule
from ostinato.when import Spec, manual, read_spec
from ostinato.when.instants import SECOND
from ostinato.when.phrases import parse_phrase

Wrong: TypeAlias = tuple[Path, str]
_ACTION = ("job", "http", "input", "options", *OPTIONS)
_NEEDED = {
    "spec": "write spec: {} for one that runs only when it is triggered",
    "action": "name a job: action: report",
}
_YES_OR_NO = ("paused", "at_most_once")
_SPEC = tuple("cron" if one.name == "crons" else one.name for one in fields(Spec))


def _nowhere(function: Callable[..., Any]) -> str:
    raise OstinatoError(f"{function!r} is not a job's name")


# A file is read without a store, and so without knowing the jobs; what they take is checked when it is applied.
_DOORS = Doors(Maker(lambda _: None), _nowhere, SECOND)


@dataclass(frozen=True, slots=True)
class Document:
    """What a file wants: by name, what `create` would be given, and where that stands."""

    origin: str
    entries: Mapping[str, Mapping[str, Any]]
    file: str
    places: Mapping[str, Place]

    def each_draft(self, draft: Callable[..., Schedule]) -> Iterator[Schedule | Problem]:
        """What the file wants as drafts, one after the other as they are asked for, or what is wrong with one."""
        for name, given in self.entries.items():
            try:
                yield draft(name, origin=self.origin, **given)
            except OstinatoError as problem:
                yield Problem(self.file, self.places[name], str(problem), name)


def checked_drafts(found: Iterable[Schedule | Problem]) -> list[Schedule]:
    """The drafts of a document. Raises all that is wrong with them at once."""
    drafts, problems = [], []
    for one in found:
        if isinstance(one, Problem):
            problems.append(one)
        else:
            drafts.append(one)
    if problems:
        raise FileError(problems)
    return drafts


def read_schedules(path: str | FilePath, *, name: str | None = None) -> Document:
    """A file of schedules. `name` is what they are known to come from; else the file's own name."""
    file = FilePath(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise OstinatoError(f"{path} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise OstinatoError(f"{path} is not UTF-8: {problem.reason} at byte {problem.start}") from None
    return parse_schedules(text, str(path), name=name or file.name)


def parse_schedules(text: str, file: str = "schedules.yaml", *, name: str | None = None) -> Document:
    """The same for a text; `file` is what errors call it."""
    marked = read_marked(text, file)
    reading = _Reading(marked)
    entries = dict(reading.entries())
    if reading.problems:
        raise FileError(list(dict.fromkeys(reading.problems)))
    places = {key: marked.place(("schedules", key, "action")) for key in entries}
    return Document(f"file:{name or FilePath(file).name}", entries, file, places)


class _Reading:
    def __init__(self, marked: Marked) -> None:
        self._marked = marked
        self.problems = [
            Problem(marked.file, place, message, str(path[1]) if path[:1] == ("schedules",) and path[1:] else None)
            for path, place, message in marked.problems
        ]

    def entries(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        whole = self._marked.value
        hint = "write\nschedules:\n  nightly:\n    spec: '0 2 * * *'\n    action: report"
        if not isinstance(whole, dict):
            self._wrong((), f"a file of schedules is an object with the key 'schedules'; {hint}")
            return
        for key in whole:
            if key != "schedules" and not key.startswith("x-"):
                near = did_you_mean(key, ["schedules"]) or "there is 'schedules', and what begins with 'x-' is yours"
                self._wrong((key,), f"{shown(key)} is not part of a file of schedules; {near}", key=True)
        if "schedules" not in whole:
            if not any(did_you_mean(key, ["schedules"]) for key in whole):
                self._wrong((), f"the key 'schedules' is missing; {hint}")
            return
        if not isinstance(whole["schedules"], dict):
            self._wrong(("schedules",), f"schedules {shown(whole['schedules'])} is not an object; write {{}} for none")
            return
        for name, given in whole["schedules"].items():
            made = self._entry(name, given)
            if made is not None:
                yield name, made

    def _entry(self, name: str, given: Any) -> Mapping[str, Any] | None:
        here: Path = ("schedules", name)
        before = len(self.problems)
        try:
            read_name(name)
        except OstinatoError as problem:
            self._wrong(here, str(problem), key=True)
        if not isinstance(given, dict):
            self._wrong(here, f"{shown(given)} is not an object with spec and action", name)
            return None
        found: dict[str, Any] = {}
        for key, value in given.items():
            if key not in KEYS:
                hint = did_you_mean(key, KEYS) or f"there are {', '.join(KEYS)}"
                self._wrong((*here, key), f"a schedule has no {key!r}; {hint}", name, key=True)
                continue
            found[key] = value
            if key == "spec":
                found[key] = self._spec(name, value)
            elif key == "action":
                self._action(name, value)
            else:
                self._part((*here, key), name, key, value, {key: value})
        for key, hint in _NEEDED.items():
            if key not in given and not any(did_you_mean(other, [key]) for other in given if other not in KEYS):
                self._wrong(here, f"it has no {key}; {hint}", name, key=True)
        if len(self.problems) > before:
            return None
        self._part(
            (*here, "action"), name, "action", given["action"], {k: v for k, v in found.items() if k != "paused"}
        )
        return found

    def _spec(self, name: str, value: Any) -> Spec:
        here: Path = ("schedules", name, "spec")
        try:
            return checked_spec(parse_phrase(value) if isinstance(value, str) else value, SECOND)
        except SpecError as problem:
            found = list(_each_wrong(value)) if isinstance(value, dict) else []
            for path, one in found or [(tuple(parts(problem.field)), str(problem))]:
                unknown = isinstance(value, dict) and path[0] not in _SPEC
                self._wrong((*here, *path), f"spec: {one}", name, key=unknown)
        return manual()

    def _action(self, name: str, value: Any) -> None:
        here: Path = ("schedules", name, "action")
        if not isinstance(value, dict):
            if not isinstance(value, str):
                self._wrong(
                    here, f"action {shown(value)} is not a job's name or an object; write {{job: report}}", name
                )
            else:
                self._part(here, name, "action", value, {"action": value})
            return
        kinds = [kind for kind in ("job", "http") if kind in value]
        near = [did_you_mean(key, ("job", "http")) for key in value if key not in _ACTION]
        if len(kinds) != 1 and not any(near):
            both = "both 'job' and 'http'; leave one out" if kinds else "no target; write {job: report} or {http: …}"
            self._wrong(here, f"the action names {both}", name)
        for key, part in value.items():
            inner = (*here, key)
            if key not in _ACTION:
                hint = did_you_mean(key, _ACTION) or f"there are {', '.join(_ACTION)}"
                self._wrong(inner, f"an action has no {key!r}; {hint}", name, key=True)
            elif key == "job" and (not isinstance(part, str) or not part):
                self._wrong(inner, f"job {shown(part)} is not a job's name; put it in quotes", name)
            elif key in ("input", "http", "options") and not isinstance(part, dict):
                self._wrong(inner, f"{key} {shown(part)} is not an object with names", name)
            elif key == "options":
                for option, one in part.items():
                    self._part((*inner, option), name, option, one, {"action": {"job": "?", option: one}})
            elif key in OPTIONS:
                self._part(inner, name, key, part, {"action": {"job": "?", key: part}})

    def _part(self, path: Path, name: str, key: str, value: Any, given: Mapping[str, Any]) -> None:
        """One part by itself, so that several mistakes are several errors, each in its place."""
        if key in _YES_OR_NO:
            if not isinstance(value, bool):
                self._wrong(path, f"{key} {shown(value)} is neither true nor false", name)
            return
        try:
            define(Schedule("", name, manual()), given, _DOORS)
        except OstinatoError as problem:
            self._wrong(path, str(problem), name)
        except (TypeError, ValueError, AttributeError, KeyError) as problem:
            self._wrong(path, f"{key} {shown(value)} cannot be read: {problem}", name)

    def _wrong(self, path: Path, message: str, schedule: str | None = None, *, key: bool = False) -> None:
        place = self._marked.place(path, key=key)
        self.problems.append(Problem(self._marked.file, place, message, schedule))


def _each_wrong(spec: Mapping[str, Any]) -> Iterator[Wrong]:
    """What is wrong with the parts of a spec, each looked at by itself; the zone and the dialect are what the other
    parts are read by."""
    by: dict[str, Any] = {}
    for key in sorted(spec, key=lambda key: key not in ("tz", "tz_data", "dialect")):
        several = isinstance(spec[key], list) and key != "exclude"
        for number, one in enumerate(spec[key] if several else [spec[key]]):
            try:
                read_spec({**by, key: [one] if several else one})
            except SpecError as problem:
                path = tuple(parts(problem.field)) if problem.field.startswith(key) else (key,)
                if several and path[1:2] == (0,):
                    path = (key, number, *path[2:])
                yield path, str(problem).replace(f"{key}[0]", f"{key}[{number}]", 1)
            else:
                if key in ("tz", "tz_data", "dialect"):
                    by[key] = one


def dump_schedules(schedules: Iterable[Schedule], *, form: str = "yaml") -> str:
    """A file that, applied to any store, gives the same definitions. What a new schedule begins with is in it too:
    whether it is paused, what remains of it, and its notes."""
    return write_document({one.name: entry(one) for one in schedules}, form=form)


def write_document(entries: Mapping[str, Mapping[str, Any]], *, form: str = "yaml") -> str:
    whole = {"schedules": dict(entries)}
    if form == "json":
        return json.dumps(whole, indent=2, ensure_ascii=False) + "\n"
    if form != "yaml":
        raise OstinatoError(f"form {form!r} is unknown; use 'yaml' or 'json'")
    yaml = YAML(pure=True)
    yaml.default_flow_style = False
    yaml.width = 1_000_000  # a text broken over lines is hard to compare
    written = StringIO()
    yaml.dump(_quoted(whole), written)
    return written.getvalue()


def _quoted(value: Any) -> Any:
    """The same, with texts that hold line breaks or other unseen characters in quotes that show them."""
    if isinstance(value, str):
        return value if value.isprintable() else DoubleQuotedScalarString(value)
    if isinstance(value, Mapping):
        return {_quoted(key): _quoted(one) for key, one in value.items()}
    return [_quoted(one) for one in value] if isinstance(value, list) else value


_USUAL = Policies()


def entry(schedule: Schedule) -> dict[str, Any]:
    """One schedule as a file says it: what is as usual is left out."""
    found = definition(schedule)
    found["spec"] = _shortest(schedule.spec, found["spec"])
    if set(found["action"]) == {"job"}:
        found["action"] = found["action"]["job"]
    if schedule.policies.overlap is _USUAL.overlap:
        del found["overlap"]
    if found["catchup"] == catchup_form(_USUAL.catchup):
        del found["catchup"]
    if schedule.paused is not None:
        found["paused"] = True
    if schedule.remaining is not None:
        found["remaining"] = schedule.remaining
    if schedule.notes:
        found["notes"] = schedule.notes
    return found


def _shortest(spec: Spec, form: Mapping[str, Any]) -> Any:
    """A spec that is nothing but one cron string is that string."""
    if set(form) == {"cron"} and len(spec.crons) == 1:
        try:
            if parse_phrase(spec.crons[0]) == spec:
                return spec.crons[0]
        except SpecError:
            pass
    return dict(form)
