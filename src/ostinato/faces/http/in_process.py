"""Call the API's functions in this process, without a server and without a web framework.

Checks, answers and errors are the same as over HTTP; `test_direct.py` compares the two.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, get_args, get_origin, get_type_hints
from urllib.parse import unquote

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from ostinato.app import Ostinato
from ostinato.engine.ways import Ways, load
from ostinato.errors import OstinatoError
from ostinato.faces.auth import Door
from ostinato.faces.http.authentication import Needs, authorize
from ostinato.faces.http.bodies import UnreadableBody, most_of, read_body, too_large
from ostinato.faces.http.mistake_places import all_mistakes, naming_argument_places
from ostinato.faces.http.problem_details import HttpFault, fault, fault_of, invalid, not_json
from ostinato.faces.http.proxies import Proxies
from ostinato.faces.http.routing import DeclaredCall, HttpAnswer, ParameterSource
from ostinato.faces.http.validation_errors import Mistaken

# From the first word of a path to the modules of its calls. A module is loaded when it is needed. The modules of ways
# are found through the app.
_MODULES = {
    "schedules": ("schedules", "backfills", "declared"),
    "upcoming": ("schedules",),
    "simulate": ("simulation",),
    "runs": ("runs",),
    "jobs": ("runs",),
    "events": ("events",),
    "namespaces": ("admin",),
    "tokens": ("admin",),
    "nodes": ("admin",),
    "diagnosis": ("admin",),
}
_PEER = "127.0.0.1"


class Failed(Exception):
    """Raised if a call failed. `fault` is the error response that the API would give."""

    def __init__(self, fault: HttpFault) -> None:
        super().__init__(fault.body["detail"])
        self.fault = fault


class _Headers(dict[str, str]):
    """A dict from lower-case header name to value. It has the methods of Starlette's `Headers` that the calls use."""

    def getlist(self, name: str) -> list[str]:
        return [self[name]] if name in self else []


@dataclass(frozen=True)
class _Request:
    """Replaces Starlette's `Request` for a call in this process. It has only the attributes that `authorize` and the
    functions of the API read."""

    app: Any
    headers: _Headers
    query_params: dict[str, str]
    cookies: dict[str, str] = field(default_factory=dict)
    client: Any = field(default_factory=lambda: SimpleNamespace(host=_PEER))
    scope: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Response:
    headers: dict[str, str] = field(default_factory=dict)
    status_code: int = 200


class Direct:
    """Makes calls of the API on an open app. The calls need no token, because the caller can access the store
    anyway."""

    def __init__(self, app: Ostinato, namespace: str | None) -> None:
        state = SimpleNamespace(door=Door(app, open_on_loopback=True), proxies=Proxies(), inside=True)
        self._app = SimpleNamespace(state=state)
        self._ways = app.ways
        self._namespace = {} if namespace is None else {"namespace": namespace}

    async def ask(
        self, method: str, path: str, content: bytes | None, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> HttpAnswer:
        """Make a call, and return its answer. Raises `Failed` with the error response that the API would give."""
        match = _find(method, path, self._ways)
        if match is None:
            raise Failed(fault(404, "not found", "Not Found"))
        bound, names = match
        query = {**self._namespace, **{name: _text(value) for name, value in params.items()}}
        seen = _Headers({name.lower(): value for name, value in headers.items()})
        seen.setdefault("host", "localhost")
        request = _Request(self._app, seen, query)
        try:
            return await _make(bound, path, names, content, request)
        except UnreadableBody as problem:
            raise Failed(not_json(problem)) from None
        except Mistaken as problem:
            every_mistake = await all_mistakes(self._app.state.door.app, problem.errors, bound.body, problem.sent)
            raise Failed(invalid(every_mistake)) from None
        except OstinatoError as problem:
            raise Failed(fault_of(problem, self._ways, inside=True)) from problem


def _text(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_text(one) for one in value]
    return json.dumps(value) if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class _Parameter:
    name: str
    source: str  # path, query, header, body, request, response or who
    key: str  # the name of the parameter in the source
    required: bool = False
    default: Callable[[], Any] = lambda: None
    reader: TypeAdapter[Any] | None = None
    needs: Needs | None = None


@dataclass(frozen=True)
class _Bound:
    """A declared call, together with a description of each parameter of the call's function."""

    call: DeclaredCall
    parameters: tuple[_Parameter, ...]
    body: Any  # the model of the body


async def _make(
    bound: _Bound, path: str, names: Mapping[str, str], content: bytes | None, request: _Request
) -> HttpAnswer:
    if content is not None and len(content) > most_of(path):
        raise Failed(fault(413, "too large", too_large(most_of(path))))
    body = [] if content is None else [read_body(content)]
    response = _Response(status_code=bound.call.options.get("status_code", 200))
    arguments: dict[str, Any] = {}
    errors: list[Any] = []
    for parameter in bound.parameters:
        match parameter.source:
            case "who":
                assert parameter.needs is not None
                arguments[parameter.name] = await authorize(request, parameter.needs)  # type: ignore[arg-type]
            case "request":
                arguments[parameter.name] = request
            case "response":
                arguments[parameter.name] = response
    for parameter in bound.parameters:
        if parameter.reader is not None:
            values = list(_values(parameter, names, request, body))
            arguments[parameter.name] = _read(parameter, values, errors)
    if errors:
        raise Mistaken(errors, body[0] if body else None)
    with naming_argument_places(arguments.get("body")):
        answer = await bound.call.function(**arguments)
    if isinstance(answer, HttpAnswer):
        return answer
    if answer is None:
        return HttpAnswer(b"", 204)
    text = answer.model_dump_json(by_alias=True) if isinstance(answer, BaseModel) else json.dumps(answer)
    return HttpAnswer(text.encode(), response.status_code, headers=response.headers)


def _values(parameter: _Parameter, names: Mapping[str, str], request: _Request, body: list[Any]) -> Iterator[Any]:
    """Yield the value that the request has for `parameter`, or nothing if it has none. `names` is a dict from a path
    parameter to its value. `body` is a list with the parsed body, or [] if there is no body."""
    sources: dict[str, Mapping[str, Any]] = {"path": names, "query": request.query_params, "header": request.headers}
    if parameter.source == "body":
        yield from body
    elif parameter.key in sources[parameter.source]:
        yield sources[parameter.source][parameter.key]


def _read(parameter: _Parameter, values: list[Any], errors: list[Any]) -> Any:
    place = ("body",) if parameter.source == "body" else (parameter.source, parameter.key)
    if not values or (parameter.source == "body" and values[0] is None):
        if parameter.required:
            errors.append({"type": "missing", "loc": place, "msg": "Field required", "input": None})
        return parameter.default()
    assert parameter.reader is not None
    try:
        return parameter.reader.validate_python(values[0], from_attributes=True)  # as FastAPI does
    except ValidationError as problem:
        errors += [{**error, "loc": (*place, *error["loc"])} for error in problem.errors(include_url=False)]
    return None


def _find(method: str, path: str, ways: Ways) -> tuple[_Bound, dict[str, str]] | None:
    """Return the call for a method and a path, and the values of the path parameters. None means an unknown call."""
    parts = path.strip("/").split("/")
    word = parts[0].partition(":")[0].partition(".")[0]
    places = [f"ostinato.faces.http.{module}:router" for module in _MODULES.get(word, ())]
    if word in ways.routers:
        places.append(ways.routers[word])
    for place in places:
        for call in load(place).calls:
            pattern = call.path.strip("/").split("/")
            if call.method != method or len(pattern) != len(parts):
                continue
            pairs = list(zip(pattern, parts, strict=True))
            if all(one == part or one.startswith("{") for one, part in pairs):
                names = {one[1:-1]: unquote(part) for one, part in pairs if one.startswith("{")}
                return _bound(call), names
    return None


def _bound(call: DeclaredCall) -> _Bound:
    # Signatures name classes that are not loaded here.
    names = {"Request": _Request, "Response": _Response, "StreamingResponse": _Response}
    hints = get_type_hints(call.function, localns=names, include_extras=True)
    signature = inspect.signature(call.function)
    parameters = tuple(_parameter(name, hints[name], one.default) for name, one in signature.parameters.items())
    # FastAPI reads parameters in this order, so mistakes are reported in this order.
    order = ("who", "request", "response", "path", "query", "header", "body")
    models = [_model(hints[one.name]) for one in parameters if one.source == "body"]
    return _Bound(call, tuple(sorted(parameters, key=lambda one: order.index(one.source))), *(models or [None]))


def _parameter(name: str, hint: Any, default: Any) -> _Parameter:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if kind in (_Request, _Response):
        return _Parameter(name, "request" if kind is _Request else "response", name)
    for note in notes:
        if isinstance(note, Needs):
            return _Parameter(name, "who", name, needs=note)
    place = next(
        (note for note in notes if isinstance(note, ParameterSource)),
        ParameterSource("body" if name == "body" else "query", {}),
    )
    options = {key: value for key, value in place.options.items() if key not in ("alias", "default_factory")}
    rest = [note for note in notes if note is not place]
    shape: Any = Annotated[kind, *rest, Field(**options)]
    reader: TypeAdapter[Any] = TypeAdapter(shape)
    key = place.options.get("alias") or (name.replace("_", "-") if place.source == "header" else name)
    factory = place.options.get("default_factory")
    required = default is inspect.Parameter.empty and factory is None
    return _Parameter(
        name,
        place.source,
        key.lower() if place.source == "header" else key,
        required,
        factory or (lambda: None if required else default),
        reader,
    )


def _model(hint: Any) -> Any:
    kind = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    return next((one for one in get_args(kind) if one is not NoneType), kind) if get_args(kind) else kind
