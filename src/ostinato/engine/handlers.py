"""What runs run: functions registered under a name, with the policies they declare."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.inputs import InputTypes, input_types
from ostinato.errors import OstinatoError, did_you_mean
from ostinato.model import Limit, Retry
from ostinato.when.instants import Micros

_PLACE = re.compile(r"\{(\w+)\}")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
BY_POSITION = "*"  # in an input: arguments without names, from callers who do not know the function
Mode = Literal["async", "thread", "process"]


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a start must know about a job: it is in the store, for processes that do not have the function."""

    name: str
    serial_key: str | None = None
    serial_hold: str = "chain"
    limit: Limit | None = None
    queue: str = "default"
    priority: int = 0
    at_most_once: bool = False
    takes: tuple[str, ...] | None = None  # names of its input in their order; None if it takes any, or it is not known
    needs: tuple[str, ...] = ()

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse an input that the function cannot take, as far as its names say."""
        if self.takes is not None and BY_POSITION not in given:
            check_names(self.name, given, self.takes, self.needs)

    @staticmethod
    def read(name: str, text: str) -> Declaration:
        """A declaration from its row. What a newer version has added to it is passed over."""
        found = {key: value for key, value in orjson.loads(text).items() if key in _DECLARED}
        limit, takes = found.pop("limit"), found.pop("takes", None)
        return Declaration(
            name,
            limit=None if limit is None else Limit.from_stored(limit),
            takes=None if takes is None else tuple(takes),
            needs=tuple(found.pop("needs", ())),
            **found,
        )

    def write(self) -> str:
        found = asdict(replace(self, limit=None))
        del found["name"]
        found["limit"] = self.limit and self.limit.as_stored()
        return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()


_DECLARED = frozenset(one.name for one in fields(Declaration))


def check_names(job: str, given: Mapping[str, Any], takes: Sequence[str], needs: Collection[str]) -> None:
    """Refuse an input with a name that the job does not take, or without one that it needs."""
    unknown = [name for name in given if name not in takes]
    missing = [name for name in takes if name in needs and name not in given]
    if not unknown and not missing:
        return
    free = [name for name in takes if name not in given]
    told = [
        f"it has no {name!r}" + (f", {hint}" if (hint := did_you_mean(str(name), free)) else "") for name in unknown
    ]
    told += [f"{name!r} is missing" for name in missing]
    raise OstinatoError(f"job {job!r}: {'; '.join(told)}; it takes {', '.join(takes) or 'nothing'}")


@dataclass(frozen=True, slots=True)
class Handler:
    """One registered function. `context` is the name of the parameter that takes the run's context, if any."""

    name: str
    function: Callable[..., Any]
    mode: Mode
    retry: Retry
    timeout: Micros | None
    heartbeat: Micros | None
    serial_key: str | None
    serial_hold: str
    limit: Limit | None
    queue: str
    priority: int
    at_most_once: bool
    context: str | None
    signature: inspect.Signature
    takes: frozenset[str] = field(init=False)
    needs: frozenset[str] = field(init=False)
    plain: bool = field(init=False)  # to be called with its input and nothing else

    def __post_init__(self) -> None:
        named = [p for p in self.signature.parameters.values() if p.kind in _NAMED and p.name != self.context]
        object.__setattr__(self, "takes", frozenset(p.name for p in named))
        needs = {p.name for p in self.signature.parameters.values() if p.kind not in _MANY and p.default is p.empty}
        object.__setattr__(self, "needs", frozenset(needs - {self.context}))

        plain = self.mode == "async" and self.context is None and self.heartbeat is None
        object.__setattr__(self, "plain", plain)

    @property
    def declaration(self) -> Declaration:
        takes = self._input_names()
        return Declaration(
            self.name,
            self.serial_key,
            self.serial_hold,
            self.limit,
            self.queue,
            self.priority,
            self.at_most_once,
            takes,
            tuple(name for name in takes or () if name in self.needs),
        )

    def check_key(self) -> None:
        """Refuse a serial_key that is to be filled with what is never in the input."""
        takes = self._input_names()
        for place in _PLACE.findall(self.serial_key or ""):
            if takes is not None and place not in takes:
                hint = did_you_mean(place, takes) or f"it takes {', '.join(takes) or 'nothing'}"
                raise OstinatoError(f"job {self.name!r}: serial_key {self.serial_key!r} needs {place!r}; {hint}")

    def _input_names(self) -> tuple[str, ...] | None:
        """The names of its input in their order; None if it takes any."""
        parameters = [one for one in self.signature.parameters.values() if one.name != self.context]
        if any(one.kind not in _NAMED for one in parameters):
            return None
        return tuple(one.name for one in parameters)

    def named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Arguments that came by position, by name. One that is an object with the function's own names is those."""
        places = [p.name for p in self.signature.parameters.values() if p.kind is _BY_PLACE and p.name != self.context]
        if len(arguments) == 1 and isinstance(one := arguments[0], dict) and self.needs <= one.keys() <= self.takes:
            return dict(one)
        if len(arguments) > len(places):
            takes = ", ".join(places) or "nothing"
            raise OstinatoError(f"job {self.name!r}: {len(arguments)} arguments were given; it takes {takes}")
        return dict(zip(places, arguments, strict=False))

    @property
    def types(self) -> InputTypes | None:
        """What the function's type hints say about its input."""
        return input_types(self.function, self.context)

    def check(self, given: Mapping[str, Any]) -> None:
        """Refuse an input that the function cannot take, by name or by type, before anything is on record."""
        if BY_POSITION in given:
            given = self.named(given[BY_POSITION])
        self._check_names(given)
        if given and (types := self.types) is not None:
            types.read(to_json(given, f"the input of job {self.name!r}"), self.name)

    def arguments(self, text: str | None) -> dict[str, Any]:
        """A stored input as the arguments of the function, in the types of its hints. Raises as `check` does: the input
        may come from a process that does not have the function."""
        given: dict[str, Any] = orjson.loads(text) if text else {}
        if BY_POSITION in given:
            given = self.named(given[BY_POSITION])
            text = orjson.dumps(given).decode()
        self._check_names(given)
        types = self.types if given else None
        if types is None or text is None:
            return given
        arguments = types.read(text, self.name)
        return given if self.mode == "process" else arguments  # a child process reads its JSON itself

    def _check_names(self, given: Mapping[str, Any]) -> None:
        if not (given or self.needs) or self.needs <= given.keys() <= self.takes:
            return
        names = self._input_names()
        if names is not None:
            check_names(self.name, given, names, self.needs)
            return
        extra = {self.context: None} if self.context else {}
        try:
            self.signature.bind(**{**given, **extra})
        except TypeError as problem:
            takes = ", ".join(p for p in self.signature.parameters if p != self.context) or "nothing"
            raise OstinatoError(f"job {self.name!r}: {problem}; it takes {takes}") from None


def context_parameter(function: Callable[..., Any]) -> str | None:
    """The parameter called `ctx` or `context`, if the function has one."""
    return next((name for name in inspect.signature(function).parameters if name in ("ctx", "context")), None)


def mode_of(function: Callable[..., Any], process: bool) -> Mode:
    if process:
        return "process"
    return "async" if inspect.iscoroutinefunction(function) else "thread"


def fill(template: str | None, given: Mapping[str, Any], what: str) -> str | None:
    """A key with its `{places}` filled from the input."""
    if template is None or "{" not in template:
        return template

    def value(match: re.Match[str]) -> str:
        if match[1] not in given:
            raise OstinatoError(
                f"{what} {template!r} needs {match[1]!r} in the input; it has {sorted(given) or 'nothing'}"
            )
        return str(given[match[1]])

    return _PLACE.sub(value, template)
