"""Define jobs, which are functions that are registered under a name. A `Handler` has the function and its policies. A
`Declaration` is stored, so that a process without the function can start runs, too."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

import orjson

from ostinato.engine.context import to_json
from ostinato.engine.inputs import InputTypes, declared_types, input_types, read_declared_types
from ostinato.errors import InputError, OstinatoError, check_key, did_you_mean, short_repr
from ostinato.model import Limit, Retry
from ostinato.when.instants import Micros

_PLACE = re.compile(r"\{(\w+)\}")
_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_BY_PLACE = inspect.Parameter.POSITIONAL_OR_KEYWORD
BY_POSITION = "*"  # an input {"*": [...]} holds arguments by position: its caller does not know the parameters' names
Mode = Literal["async", "thread", "process"]


@dataclass(frozen=True, slots=True)
class Declaration:
    """The properties of a job that are stored, so that processes without the function can start runs."""

    name: str
    serial_key: str | None = None
    serial_hold: str = "chain"
    limit: Limit | None = None
    queue: str = "default"
    priority: int = 0
    at_most_once: bool = False
    takes: tuple[str, ...] | None = None  # names of its parameters in order; None if it takes any name, or if unknown
    needs: tuple[str, ...] = ()  # names of its parameters without a default
    places: int | None = None  # how many of `takes`, from the first on, can be passed by position; None if unknown
    types: str | None = None  # its type hints, as `declared_types` writes them
    defaults: Mapping[str, Any] = field(default_factory=dict)  # the defaults of its parameters that JSON can hold

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise `OstinatoError` if the function does not accept the input. Names and types that are not stored in the
        declaration are not checked."""
        if BY_POSITION in values:
            if self.takes is None or self.places is None:
                return
            values = name_arguments(self.name, values[BY_POSITION], self.takes[: self.places], self.takes, self.needs)
        types = read_declared_types(self.types) if values and self.types is not None else None
        _check_names_and_types(self.name, values, self._check_names, types)

    def _check_names(self, values: Mapping[str, Any]) -> None:
        if self.takes is not None:
            check_names(self.name, values, self.takes, self.needs)

    def key_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values for the placeholders in the serial and concurrency keys. A value comes from the input, or
        else from the default of the parameter."""
        if BY_POSITION in values and self.takes is not None and self.places is not None:
            values = name_arguments(self.name, values[BY_POSITION], self.takes[: self.places], self.takes, self.needs)
        return {**self.defaults, **values}

    @staticmethod
    def read(name: str, text: str) -> Declaration:
        """Read a declaration from its row. Fields that a newer version has added are ignored."""
        stored = {key: value for key, value in orjson.loads(text).items() if key in _DECLARED}
        limit, takes = stored.pop("limit"), stored.pop("takes", None)
        return Declaration(
            name,
            limit=None if limit is None else Limit.from_stored(limit),
            takes=None if takes is None else tuple(takes),
            needs=tuple(stored.pop("needs", ())),
            **stored,
        )

    def write(self) -> str:
        stored = asdict(replace(self, limit=None))
        del stored["name"]
        stored["limit"] = self.limit and self.limit.as_stored()
        return orjson.dumps(stored, option=orjson.OPT_SORT_KEYS).decode()


_DECLARED = frozenset(one.name for one in fields(Declaration))


def check_names(job: str, values: Mapping[str, Any], takes: Sequence[str], needs: Collection[str]) -> None:
    """Raise `InputError` if the input has a name that is not in `takes`, or lacks a name that is in `needs`."""
    unknown = [name for name in values if name not in takes]
    missing = [name for name in takes if name in needs and name not in values]
    if not unknown and not missing:
        return
    free = [name for name in takes if name not in values]
    faults: list[tuple[tuple[str | int, ...], str]] = [
        ((name,), f"it has no {name!r}" + (f", {hint}" if (hint := did_you_mean(str(name), free)) else ""))
        for name in unknown
    ]
    faults += [((name,), f"{name!r} is missing") for name in missing]
    words = "; ".join(fault for _, fault in faults)
    raise InputError(f"job {job!r}: {words}; it takes {', '.join(takes) or 'nothing'}", faults)


def _check_names_and_types(
    job: str, values: Mapping[str, Any], check_names: Callable[[Mapping[str, Any]], None], types: InputTypes | None
) -> None:
    """Check the names and the types of an input. Raises one `InputError` that lists all faults."""
    wrong_names: InputError | None = None
    try:
        check_names(values)
    except InputError as problem:
        wrong_names = problem
    if values and types is not None:
        try:
            types.read(to_json(values, f"the input of job {job!r}"), job)
        except InputError as problem:
            if wrong_names is None:
                raise
            words = "; ".join(fault for _, fault in problem.faults)
            raise InputError(f"{wrong_names}; {words}", (*wrong_names.faults, *problem.faults)) from None
    if wrong_names is not None:
        raise wrong_names


def check_only_by_position(job: str, values: Mapping[str, Any], what: str = "job") -> None:
    """Raise `OstinatoError` if an input has arguments by position and by name. Call this with inputs of callers only:
    stored ones may have both, because former versions ignored the names."""
    if BY_POSITION in values and (others := [name for name in values if name != BY_POSITION]):
        names = ", ".join(map(repr, others))
        raise OstinatoError(
            f"{what} {job!r}: the input has {BY_POSITION!r}, a list of all arguments by position, and also {names}"
        )


def name_arguments(
    job: str, arguments: Any, places: Sequence[str], takes: Collection[str], needs: Collection[str]
) -> dict[str, Any]:
    """Convert a list of arguments by position to a dict of arguments by name. If the list has only one item, and this
    item is a dict with all required parameters and no unknown ones, returns a copy of the dict. Raises `OstinatoError`
    if there are too many arguments, or if `arguments` is not a list."""
    if not isinstance(arguments, list | tuple):
        raise OstinatoError(f"job {job!r}: {BY_POSITION}: {short_repr(arguments)} is not a list of arguments")
    if (
        len(arguments) == 1
        and isinstance(argument := arguments[0], dict)
        and set(needs) <= argument.keys() <= set(takes)
    ):
        return dict(argument)
    if len(arguments) > len(places):
        names = ", ".join(places) or "nothing"
        raise OstinatoError(f"job {job!r}: {len(arguments)} arguments were given; it takes {names}")
    return dict(zip(places, arguments, strict=False))


@dataclass(frozen=True, slots=True)
class Handler:
    """One registered function. `context` is the name of its context parameter. If only one part of Ostinato may start
    the job, `started_by` names that part."""

    name: str
    function: Callable[..., Any]
    mode: Mode
    signature: inspect.Signature
    retry: Retry = field(default_factory=Retry)
    timeout: Micros | None = None
    heartbeat: Micros | None = None
    serial_key: str | None = None
    serial_hold: str = "chain"
    limit: Limit | None = None
    queue: str = "default"
    priority: int = 0
    at_most_once: bool = False
    context: str | None = None
    started_by: str = ""
    takes: frozenset[str] = field(init=False)
    needs: frozenset[str] = field(init=False)
    plain: bool = field(init=False)  # an async function without context and heartbeat: it can be called directly
    defaults: Mapping[str, Any] = field(init=False)  # the defaults of its parameters that JSON can hold

    def __post_init__(self) -> None:
        named = [p for p in self.signature.parameters.values() if p.kind in _NAMED and p.name != self.context]
        object.__setattr__(self, "takes", frozenset(p.name for p in named))
        needs = {p.name for p in self.signature.parameters.values() if p.kind not in _MANY and p.default is p.empty}
        object.__setattr__(self, "needs", frozenset(needs - {self.context}))
        object.__setattr__(self, "defaults", _plain_defaults(named))
        plain = self.mode == "async" and self.context is None and self.heartbeat is None
        object.__setattr__(self, "plain", plain)

    @property
    def declaration(self) -> Declaration:
        takes = self._input_names()
        needs = tuple(name for name in takes or () if name in self.needs)
        return Declaration(
            self.name,
            self.serial_key,
            self.serial_hold,
            self.limit,
            self.queue,
            self.priority,
            self.at_most_once,
            takes,
            needs,
            None if takes is None else len(self._places()),
            declared_types(self.function, self.context),
            self.defaults,
        )

    def key_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values for the placeholders in the serial and concurrency keys. A value comes from the input, or
        else from the default of the parameter."""
        if BY_POSITION in values:
            values = self.named(values[BY_POSITION])
        return {**self.defaults, **values}

    def check_keys(self) -> None:
        """Raise `OstinatoError` if `serial_key` or the limit's key has a placeholder that is not a parameter, or a
        brace outside a placeholder."""
        if self.serial_key is not None:
            self._check_key("serial_key", self.serial_key)
        if self.limit is not None:
            self._check_key("the limit's key", self.limit.key)

    def _check_key(self, option: str, key: str) -> None:
        takes = self._input_names()
        for place in _PLACE.findall(key):
            if takes is not None and place not in takes:
                hint = did_you_mean(place, takes) or f"it takes {', '.join(takes) or 'nothing'}"
                raise OstinatoError(f"job {self.name!r}: {option} {key!r} needs {place!r}; {hint}")
        if re.search("[{}]", _PLACE.sub("", key)):
            takes_names = ", ".join(f"{{{name}}}" for name in takes or ()) or "none"
            raise OstinatoError(
                f"job {self.name!r}: {option} {key!r} has a brace that is not part of a placeholder; "
                f"its placeholders can be: {takes_names}"
            )

    def _input_names(self) -> tuple[str, ...] | None:
        """Return the parameters' names without the context parameter. Returns None if a parameter cannot be passed by
        name."""
        parameters = [one for one in self.signature.parameters.values() if one.name != self.context]
        if any(one.kind not in _NAMED for one in parameters):
            return None
        return tuple(one.name for one in parameters)

    def named(self, arguments: Sequence[Any]) -> dict[str, Any]:
        """Convert arguments by position to arguments by name with `name_arguments`."""
        return name_arguments(self.name, arguments, self._places(), self.takes, self.needs)

    def _places(self) -> list[str]:
        return [p.name for p in self.signature.parameters.values() if p.kind is _BY_PLACE and p.name != self.context]

    @property
    def types(self) -> InputTypes | None:
        """The object that checks inputs against the function's type hints, or None if no parameter can be checked."""
        return input_types(self.function, self.context)

    def check(self, values: Mapping[str, Any]) -> None:
        """Raise `OstinatoError` if the function does not accept the names or the types of the input."""
        if BY_POSITION in values:
            values = self.named(values[BY_POSITION])
        _check_names_and_types(self.name, values, self._check_names, self.types if values else None)

    def arguments(self, text: str | None) -> dict[str, Any]:
        """Convert a stored input to arguments of the hinted types. If the job runs in a child process, the arguments
        stay JSON values, and the child converts them. Raises `OstinatoError` if the function does not accept the
        input."""
        values: dict[str, Any] = orjson.loads(text) if text else {}
        if BY_POSITION in values:
            values = self.named(values[BY_POSITION])
            text = orjson.dumps(values).decode()
        self._check_names(values)
        types = self.types if values else None
        if types is None or text is None:
            return values
        arguments = types.read(text, self.name)
        return values if self.mode == "process" else arguments  # a child process converts them itself

    def _check_names(self, values: Mapping[str, Any]) -> None:
        if not (values or self.needs) or self.needs <= values.keys() <= self.takes:
            return
        names = self._input_names()
        if names is not None:
            check_names(self.name, values, names, self.needs)
            return
        extra = {self.context: None} if self.context else {}
        try:
            self.signature.bind(**{**values, **extra})
        except TypeError as problem:
            takes = ", ".join(p for p in self.signature.parameters if p != self.context) or "nothing"
            raise OstinatoError(f"job {self.name!r}: {problem}; it takes {takes}") from None


def _plain_defaults(parameters: Sequence[inspect.Parameter]) -> dict[str, Any]:
    """Return a dict from parameter name to default value. Only defaults that are a string, a number, true, false or
    null in JSON are included."""
    defaults: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.default is parameter.empty:
            continue
        try:
            value = orjson.loads(orjson.dumps(parameter.default))
        except (orjson.JSONEncodeError, orjson.JSONDecodeError):
            continue
        if not isinstance(value, list | dict):
            defaults[parameter.name] = value
    return defaults


def context_parameter(function: Callable[..., Any]) -> str | None:
    """Return the name of the function's context parameter, `ctx` or `context`, or None if it has none."""
    return next((name for name in inspect.signature(function).parameters if name in ("ctx", "context")), None)


def mode_of(function: Callable[..., Any], process: bool) -> Mode:
    if process:
        return "process"
    return "async" if inspect.iscoroutinefunction(function) else "thread"


def fill(template: str | None, values: Mapping[str, Any], what: str) -> str | None:
    """Replace the `{placeholders}` in a key by values: "user-{id}" becomes "user-7". Raises `OstinatoError` if a value
    is missing, or if the key is then a text that cannot be stored. `what` names the key in the message."""
    if template is None or "{" not in template:
        return template

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise OstinatoError(
                f"{what} {template!r} needs {match[1]!r} in the input; it has {sorted(values) or 'nothing'}"
            )
        return str(values[match[1]])

    key = _PLACE.sub(value, template)
    check_key(key, what)
    return key
