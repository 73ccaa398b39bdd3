"""The errors people meet. Each says where, what was given, and what would be right."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import get_close_matches
from itertools import islice
from reprlib import Repr

_UNKEPT = re.compile(r"[\x00\ud800-\udfff]")


class OstinatoError(Exception):
    """The root of every error that Ostinato raises on purpose."""


class SpecError(OstinatoError, ValueError):
    """A spec, or a part of one, that cannot mean what was meant.

    `field` names the place, `value` is what stood there, `hint` what would be right.
    """

    def __init__(self, message: str, *, field: str = "", value: object = None, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.field = field
        self.value = value
        self.hint = hint

    def at(self, place: str) -> SpecError:
        """The same error with the place it was found in before its field and its words."""
        field = f"{place}.{self.field}" if self.field else place
        return SpecError(f"{place}: {self.message}", field=field, value=self.value, hint=self.hint)


class TooManyExclusions(SpecError):
    """The search for the next time met so many excluded ones that it gave up."""


def shown(value: object) -> str:
    """A value as an error shows it: short, however long, deep or large the value is."""
    if isinstance(value, str) and len(value) <= _SHORT.maxstring:
        return repr(value)
    try:
        return _SHORT.repr(value)
    except ValueError:  # a number with more digits than Python prints
        return "a number of thousands of digits"


def shown_json(value: object) -> str:
    """The same for a value of a JSON or YAML document, in its words: null, true, false."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return shown(value)


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


_LISTED = 30


# What other tools, or other faces of this one, call a thing. These go before likeness in spelling, which would offer
# `timeout` for `timezone`.
_SYNONYMS = {
    "api_key": ("token",),
    "at": ("due", "first"),
    "command": ("job", "action"),
    "cron": ("spec",),
    "crontab": ("cron", "spec"),
    "enabled": ("paused",),
    "func": ("job", "action"),
    "function": ("job", "action"),
    "handler": ("job", "action"),
    "every": ("intervals", "spec"),
    "interval": ("every", "intervals", "spec"),
    "job": ("action", "name"),
    "name": ("journeyName", "match"),
    "kwargs": ("input",),
    "args": ("input",),
    "arguments": ("input",),
    "max_attempts": ("retry", "attempts"),
    "max_retries": ("retry", "attempts"),
    "params": ("input",),
    "payload": ("input",),
    "retries": ("retry", "attempts"),
    "schedule": ("spec",),
    "size": ("limit",),
    "page_size": ("limit",),
    "per_page": ("limit",),
    "since": ("first", "after"),
    "start_date": ("start", "first"),
    "end_date": ("end", "last"),
    "target": ("action", "job"),
    "task": ("action", "job"),
    "time_zone": ("tz", "spec"),
    "timezone": ("tz", "spec"),
    "tz": ("spec",),
    "timezone_name": ("tz",),
    "to": ("last",),
    "from": ("first",),
    "until": ("last", "end"),
    "when": ("spec",),
    "zone": ("tz", "spec"),
    "zone_data": ("tz_data",),
    # commands
    "add": ("create",),
    "new": ("create",),
    "make": ("create",),
    "describe": ("show",),
    "get": ("show",),
    "view": ("show",),
    "info": ("show",),
    "ls": ("list",),
    "rm": ("delete", "revoke"),
    "remove": ("delete", "revoke"),
    "drop": ("delete",),
    "edit": ("update",),
    "set": ("update",),
    "modify": ("update",),
    "enable": ("resume",),
    "unpause": ("resume",),
    "disable": ("pause",),
    "run": ("trigger", "start"),
    "fire": ("trigger",),
    "kill": ("terminate",),
    "stop": ("cancel",),
    "abort": ("cancel",),
    "rerun": ("retry",),
    "redo": ("retry",),
    "next": ("upcoming", "times"),
    "status": ("state", "phase", "doctor", "show"),
    "state": ("status", "phase"),
    "subject": ("subjectId",),
    "tenant": ("tenantId",),
    "check": ("doctor",),
    "deploy": ("apply",),
    "validate": ("check",),
    "up": ("serve",),
    "server": ("serve",),
    "beat": ("worker",),
    "dump": ("export",),
}


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Which of these was likely meant: by another name for it, or else by its spelling."""
    names = list(choices)
    for other in _SYNONYMS.get(word.lower().replace("-", "_"), ()):
        if other in names:
            return other
    near = get_close_matches(word, names, n=1)
    return near[0] if near else None


def is_text(value: object) -> bool:
    """Whether it is a text that every store takes: not empty, without a NUL or half of a surrogate pair."""
    return isinstance(value, str) and value != "" and not _UNKEPT.search(value)


def read_text(value: object, what: str) -> None:
    if not is_text(value):
        raise OstinatoError(f"{what} {value!r} is not a text of at least one character that can be stored")


def there_are(choices: Collection[str]) -> str:
    """A hint where nothing comes near: what there is, or the first of it."""
    first = ", ".join(islice(choices, _LISTED)) or "none"
    more = len(choices) - _LISTED
    return f"there are {first} and {more:,} more" if more > 0 else f"there are {first}"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint for a near miss, or nothing."""
    near = nearest(word, choices)
    return f"did you mean {str(near)!r}?" if near else ""


def missing_attribute(owner: object, place: str, name: str) -> AttributeError:
    """The answer to an attribute that is not there: the public one that was likely meant."""
    public = [other for other in dir(type(owner)) if not other.startswith("_")]
    hint = "" if name.startswith("_") else did_you_mean(name, public) or there_are(public)
    return AttributeError(f"{place} has no {name!r}{'; ' + hint if hint else ''}", name=name, obj=owner)


class StoreError(OstinatoError):
    """Something is wrong with the store; the message says what to do."""


class NotAStore(StoreError):
    """What was given names no store that could be."""


class StoreUnavailable(StoreError):
    """The store does not answer for now. What was acknowledged is safe; the call may be tried again."""


class StoreRefused(StoreError):
    """The store will not take a value that it was given: the same call would be refused again."""


class Conflict(OstinatoError):
    """What was asked for contradicts what is there."""


class NotFound(OstinatoError):
    """There is no such thing."""


class RunEnded(OstinatoError):
    """A run whose result was waited for did not succeed."""

    def __init__(self, run_id: str, status: str, reason: str | None, error: object = None) -> None:
        super().__init__(f"run {run_id} {status.replace('_', ' ')}" + (f": {reason}" if reason else ""))
        self.run_id = run_id
        self.status = status
        self.reason = reason
        self.error = error


class RunFailed(RunEnded):
    """The run failed or timed out; `error` holds what it raised."""


class RunCancelled(RunEnded):
    """The run was cancelled or terminated."""
