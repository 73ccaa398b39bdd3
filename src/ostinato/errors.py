"""Define the errors that users see. A message names the place and the wrong value, and says what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from itertools import islice
from reprlib import Repr
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_NOT_STORABLE = re.compile(r"[\x00\ud800-\udfff]")


class OstinatoError(Exception):
    """The base class of all errors that Ostinato raises on purpose."""


class SpecError(OstinatoError, ValueError):
    """Raised if a spec, or a part of one, is wrong. `field` names the place, and `hint` says what would be right."""

    def __init__(self, message: str, *, field: str = "", value: object = None, hint: str = "") -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.message = message
        self.field = field
        self.value = value
        self.hint = hint

    def at(self, place: str) -> SpecError:
        """Return a copy of the error with `place` in front of its field and its message."""
        field = f"{place}.{self.field}" if self.field else place
        return SpecError(f"{place}: {self.message}", field=field, value=self.value, hint=self.hint)


class ArgumentError(OstinatoError):
    """Raised if an argument of a call is wrong. `path` leads to the mistake. It begins with the name of the argument,
    for example `("patterns", 2)`. If `secret` is true, the wrong value may be a secret, so responses and logs must not
    contain it."""

    def __init__(self, message: str, *path: str | int, secret: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.secret = secret


class InputError(OstinatoError):
    """Raised if a job refuses an input.

    - `faults`: (path in the input, description) for each mistake
    - `argument`: the path of the input among the arguments of the call, for example `("inputs", 2)`
    - `secret`: if true, nobody may repeat the wrong values, because they may be secrets
    """

    def __init__(
        self,
        message: str,
        faults: Sequence[tuple[tuple[str | int, ...], str]],
        *,
        argument: tuple[str | int, ...] = ("input",),
        secret: bool = False,
    ) -> None:
        super().__init__(message)
        self.faults = tuple(faults)
        self.argument = argument
        self.secret = secret


@contextmanager
def naming_argument(*path: str | int) -> Iterator[None]:
    """If the `with` block raises an `OstinatoError`, raise an `ArgumentError` with `path` and the same message instead.
    An error of a subclass, such as `Conflict`, is raised unchanged."""
    try:
        yield
    except OstinatoError as problem:
        if type(problem) is not OstinatoError:
            raise
        raise ArgumentError(str(problem), *path) from None


class LimitError(OstinatoError, ValueError):
    """Raised if the `limit` of a list is not a valid number."""


class TooManyExclusions(SpecError):
    """Raised if the search for the next time met too many excluded times and gave up."""


def error_text(problem: BaseException) -> str:
    """Return the text of an exception. If its `__str__` raises, return a text that says so."""
    try:
        return str(problem)
    except BaseException as raised:
        return f"its text cannot be written: __str__ raised {type(raised).__name__}"


def describe_exception(problem: BaseException) -> str:
    """Return the type and the text of an exception, such as `ValueError: too long`."""
    text = error_text(problem)
    return f"{type(problem).__name__}: {text}" if text else type(problem).__name__


def short_repr(value: object) -> str:
    """Return a repr of a value for an error message. It is short even if the value is long, deep or large."""
    if isinstance(value, str) and len(value) <= _SHORT.maxstring:
        return repr(value)
    try:
        return _SHORT.repr(value)
    except ValueError:  # a number with more digits than Python prints
        return "a number with thousands of digits"


def short_json(value: object) -> str:
    """Return a short repr of a JSON or YAML value. None, True and False are written as null, true and false."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return short_repr(value)


def name_url(url: object) -> str:
    """Return the name of a wrong URL for an error message. If the URL may contain a secret, the name is only the word
    "url". Otherwise the name is the word "url" and the URL, such as `url 'htp://a.example'`."""
    return "url" if may_have_secret(url) else f"url {short_repr(url)}"


def may_have_secret(value: object) -> bool:
    """Return whether a value, or a part of it, may be a URL with a password or with a token in its query."""
    return any(sign in str(value) for sign in "@?")


# Names of members whose values may be secrets.
_SECRET = re.compile(r"secret|passw|token|authorization|api.?key|credential|^headers$|^sign$", re.IGNORECASE)


def may_be_secret(path: Sequence[object], value: object) -> bool:
    """Return whether an error must not repeat the value at `path` in a JSON document, because it may be a secret.

    - If a name in `path`, or a name inside the value, suggests a secret, such as `token` or `headers`, return True.
    - If `path` ends with `url` or contains `http`, or if the value looks like a URL, return whether the value may be a
      URL with a password or a query.
    - Otherwise return False.
    """
    names = [str(step) for step in path]
    if any(map(_SECRET.search, names)) or any(map(_SECRET.search, _names_inside(value))):
        return True
    is_url = names[-1:] == ["url"] or "http" in names or (isinstance(value, str) and "://" in value)
    return is_url and may_have_secret(value)


def show_wrong(value: object) -> str:
    """Return a wrong value as text for an error message, with a blank before it. Return "" if the value is an object,
    or if it may be a secret or have one inside."""
    text = short_repr(value)
    return "" if "{" in text or may_be_secret((), value) or may_have_secret(value) else f" {text}"


def _names_inside(value: object) -> Iterator[str]:
    """Yield the names of all members in a JSON value, at any depth."""
    if isinstance(value, Mapping):
        yield from map(str, value)
        value = list(value.values())
    if isinstance(value, list | tuple):
        for member in value:
            yield from _names_inside(member)


_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


_LISTED = 30


# Words that users may know from other tools, or from other interfaces of Ostinato, and the names used here. Synonyms
# are tried before similar spelling, because similar spelling would suggest `timeout` for `timezone`.
_SYNONYMS = {
    "add_job": ("job",),
    "api_key": ("token",),
    "at": ("due", "first"),
    "command": ("job", "action"),
    "cron": ("spec",),
    "delay": ("start",),
    "apply_async": ("start",),
    "enqueue": ("start",),
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
    "timezone_name": ("tz", "spec"),
    "to": ("last",),
    "from": ("first",),
    "until": ("last", "end"),
    "upcoming": ("next",),
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
    "run_now": ("trigger", "start"),
    "run_job": ("trigger", "start"),
    "serve": ("run",),
    "find": ("list",),
    "all": ("list",),
    "search": ("list",),
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

_ZONES = ("tz", "timezone", "time_zone", "timezone_name", "zone")


_SIMILAR = 0.65  # below it, words are found that only share some letters, such as `ready` for `delay`


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """Return `word` itself if it is a choice, else the choice that is a synonym of it. If there is no synonym, return
    the choice with the most similar spelling. Returns None if no choice has a similar spelling."""
    names = list(choices)
    if word in names:
        return word
    for other in _SYNONYMS.get(word.lower().replace("-", "_"), ()):
        if other in names:
            return other
    near = get_close_matches(word, names, n=1, cutoff=_SIMILAR)
    return near[0] if near else None


def is_text(value: object) -> bool:
    """Return whether a value is a text that every store accepts: not empty, without NUL and lone surrogates."""
    return isinstance(value, str) and value != "" and not _NOT_STORABLE.search(value)


def check_text(value: object, what: str, most: int | None = None) -> None:
    """Raise `OstinatoError` if a value is not a text that can be stored, or has more than `most` characters. `what`
    names the value in the message."""
    if not is_text(value):
        raise OstinatoError(f"{what} {short_repr(value)} is not a text that can be stored, of at least one character")
    if most is not None and len(str(value)) > most:
        raise OstinatoError(
            f"{what} {short_repr(value)} has {len(str(value)):,} characters; at most {most:,} are taken"
        )


def check_key(value: object, what: str) -> None:
    """Raise `OstinatoError` if a key is not a text that can be stored. The key may be empty, for example because it is
    filled from an empty text of the input. `what` names the key in the message."""
    if value != "":
        check_text(value, what)


def refuse_nul(value: object, where: str) -> None:
    """Raise `OstinatoError` if a text anywhere in a JSON value contains a NUL or a lone surrogate, which cannot be
    stored. The message begins with `where`."""
    left: list[tuple[str, object]] = [("", value)]
    while left:
        place, part = left.pop()
        if isinstance(part, str):
            if _NOT_STORABLE.search(part):
                raise OstinatoError(
                    f"{where}: {place or 'it'} {short_repr(part)} has a character that cannot be stored"
                )
        elif isinstance(part, Mapping):
            for name, inner in part.items():
                left += [(f"{place}.{name}".strip("."), inner), ("the name", name)]
        elif isinstance(part, list | tuple):
            left += [(f"{place}[{number}]", inner) for number, inner in enumerate(part)]


MOST_LISTED = 100_000


def limit_rule(most: int) -> str:
    """Return what error messages say about a wrong `limit`, for example "not a whole number from 1 to 100"."""
    return f"not a whole number from 1 to {most:,}"


def check_limit(limit: object, most: int = MOST_LISTED) -> None:
    """Raise `LimitError` if the limit of a list is not a whole number from 1 to `most`."""
    if type(limit) is not int or not 1 <= limit <= most:
        raise LimitError(f"limit {short_repr(limit)} is {limit_rule(most)}")


def list_choices(choices: Collection[str]) -> str:
    """Return a hint that lists the choices. If there are many, it lists only the first ones."""
    first = ", ".join(islice(choices, _LISTED)) or "none"
    more = len(choices) - _LISTED
    return f"there are {first} and {more:,} more" if more > 0 else f"there are {first}"


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """Return a hint with the choice that the user probably meant, such as `did you mean 'daily'?`. Returns "" if no
    choice is similar to `word`."""
    near = nearest(word, choices)
    if near == "spec" and word in _ZONES:
        return 'the time zone belongs to the spec: {"cron": "0 9 * * *", "tz": "Europe/Berlin"}'
    return f"did you mean {str(near)!r}?" if near else ""


def install_hint(extra: str) -> str:
    """Return a hint that says how to install an extra. Ostinato is not in a package index, so it has to be installed
    from a clone."""
    return f"in a clone of Ostinato, run pip install '.[{extra}]'"


def check_keywords(function: Callable[..., Any], keywords: Iterable[str], where: str) -> None:
    """Raise `TypeError` if `function` does not accept one of `keywords`. The message suggests keywords that it
    accepts."""
    names = [one.name for one in signature(function).parameters.values() if one.kind is one.KEYWORD_ONLY]
    for name in keywords:
        if name not in names:
            raise TypeError(f"{where} has no keyword {name!r}; {did_you_mean(name, names) or list_choices(names)}")


def naming_keywords(where: str) -> Callable[[F], F]:
    """Return a decorator for coroutine functions. A call with an unknown keyword raises a `TypeError`, which suggests
    keywords that the function accepts. `where` names the function in the message."""

    def decorate(function: F) -> F:
        takes = set(signature(function).parameters)

        @wraps(function)
        async def called(*args: Any, **keywords: Any) -> Any:
            if not takes.issuperset(keywords):
                check_keywords(function, keywords.keys() - takes, where)
            return await function(*args, **keywords)

        return called  # type: ignore[return-value]

    return decorate


def missing_attribute(owner: object, place: str, name: str) -> AttributeError:
    """Return an `AttributeError` which says that `place` has no attribute `name`. Its message suggests a similar
    attribute of `owner`. If no attribute is similar, the message lists the attributes. If `name` begins with `_`, the
    message has neither a suggestion nor a list. If `owner` has a property of this name, which failed with an
    `AttributeError`, this function raises that error."""
    if hasattr(type(owner), name):
        object.__getattribute__(owner, name)
    public = [other for other in dir(owner) if not other.startswith("_")]
    hint = "" if name.startswith("_") else did_you_mean(name, public) or list_choices(public)
    return AttributeError(f"{place} has no {name!r}{'; ' + hint if hint else ''}", name=name, obj=owner)


class StoreError(OstinatoError):
    """Raised if there is a problem with the store. The message says what to do."""


class NotAStore(StoreError):
    """Raised if a URL does not name a store, or if the database at the URL is not a store."""


class StoreUnavailable(StoreError):
    """Raised if the store is temporarily unavailable. Confirmed changes are safe, and the call may be tried again."""


class StoreRefused(StoreError):
    """Raised if the store does not accept a value. The same call would fail again."""


class TriggerFailed(StoreError):
    """Raised if a trigger that somebody added to the database raised an exception. Nothing of the call was written. The
    call may be tried again: the trigger may let it pass later."""


class Conflict(OstinatoError):
    """Raised if the request contradicts the current state."""


class NotFound(OstinatoError):
    """Raised if the requested object does not exist."""


class RunEnded(OstinatoError):
    """Raised to a caller that waited for a run, if the run did not succeed. `status` says how the run has ended."""

    def __init__(self, run_id: str, status: str, reason: str | None, error: object = None) -> None:
        super().__init__(f"run {run_id} {status.replace('_', ' ')}" + (f": {reason}" if reason else ""))
        self.run_id = run_id
        self.status = status
        self.reason = reason
        self.error = error


class RunFailed(RunEnded):
    """Raised if the run failed, timed out or crashed. `error` is the exception that the run raised, as a JSON value."""


class RunCancelled(RunEnded):
    """Raised if the run was cancelled or terminated."""
