"""`xmlDecode:v1`: XML becomes JSON. A document with a DOCTYPE is refused, so there are no entities to expand and none
to fetch; depth, size and the number of elements are bounded.

The mapping: the result is an object with the root element under its name. An element without attributes and children
is its text, or null if it has none. Any other is an object: attributes as `@name`, children under their names, text as
`#text`. Children of one name are a list where there are several. Names keep their prefixes; text is trimmed where it
stands beside children; comments and processing instructions are left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import identifier, key, of, text
from ostinato.journeys.language.states import Target
from ostinato.journeys.machine.values import NotPossible, written
from ostinato.journeys.plugins import Fault, Problem, Result, TaskCall
from ostinato.journeys.tasks.reading import faults_in, settings_of
from ostinato.model import Json

LARGEST = 1 << 20  # characters
DEEPEST = 64
MOST_ELEMENTS = 50_000
PARSE_ERROR = "urn:xml-decode:parse-error"


class NotXml(Exception):
    """A text that is not decoded, and why; the words hold nothing of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class XmlDecodeSettings:
    source_var: str = key("sourceVar", text())
    target: Target = key("target", of(Target), Target())
    result_var: str | None = key("resultVar", identifier, None)


def _faults(settings: XmlDecodeSettings) -> Iterator[Fault]:
    if settings.target.kind == "var" and settings.result_var is None:
        yield Fault("xml-result", (), "the target var has no 'resultVar'", "say where the value goes")
    if settings.target.kind == "attributes":
        yield Fault("xml-target", ("target",), "XML is not written to attributes", "use context or var")


@dataclass(slots=True)
class XmlDecode:
    name: str = "xmlDecode"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return faults_in(XmlDecodeSettings, settings, _faults)

    async def run(self, call: TaskCall) -> Result | Problem:
        settings = settings_of(XmlDecodeSettings, call.settings)
        source: Any = call.context
        for step in settings.source_var.split("."):
            source = source.get(step) if isinstance(source, Mapping) else None
        if not isinstance(source, str):
            return _problem(f"context.{settings.source_var} is not a text")
        target, variable = settings.target, settings.result_var
        if variable is not None and not target.path and "target" not in call.settings:
            target = Target(kind="var")
        try:
            return Result(written(call.context, target, variable, decoded(source)))
        except (NotXml, NotPossible) as problem:
            return _problem(str(problem))


def _problem(detail: str) -> Problem:
    return Problem(PARSE_ERROR, "The XML cannot be decoded", detail, type=PARSE_ERROR)


def decoded(source: str) -> dict[str, Any]:
    if len(source) > LARGEST:
        raise NotXml(f"it has {len(source):,} characters; at most {LARGEST:,} are read")
    return _Decoding().document(source)


@dataclass(slots=True)
class _Element:
    name: str
    value: dict[str, Any]
    text: list[str] = field(default_factory=list)
    children: bool = False


class _Decoding:
    def __init__(self) -> None:
        self._open: list[_Element] = [_Element("", {})]
        self._count = 0
        self._parser = expat.ParserCreate("utf-8")  # whatever its first line says: the text is read already
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse
        self._parser.UnparsedEntityDeclHandler = self._refuse
        self._parser.ExternalEntityRefHandler = self._refuse

    def document(self, source: str) -> dict[str, Any]:
        try:
            self._parser.Parse(source.encode("utf-8", "replace"), True)
        except expat.ExpatError as problem:
            what = expat.ErrorString(problem.code)
            raise NotXml(f"line {problem.lineno}, column {problem.offset + 1}: {what}") from None
        return self._open[0].value

    def _refuse(self, *_: object) -> NoReturn:
        raise NotXml("it has a DOCTYPE, which is not read")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1 + len(attributes)
        if len(self._open) > DEEPEST or self._count > MOST_ELEMENTS:
            raise NotXml(f"it is deeper than {DEEPEST} levels or has more than {MOST_ELEMENTS:,} elements")
        self._open[-1].children = True
        self._open.append(_Element(name, {f"@{one}": value for one, value in attributes.items()}))

    def _characters(self, data: str) -> None:
        self._open[-1].text.append(data)

    def _end(self, name: str) -> None:
        done = self._open.pop()
        words = "".join(done.text)
        if done.children:
            words = words.strip()
        value: Any = done.value
        if not done.value:
            value = words or None
        elif words:
            done.value["#text"] = words
        into = self._open[-1].value
        if name not in into:
            into[name] = value
        elif isinstance(into[name], list):  # no element's value is itself one
            into[name].append(value)
        else:
            into[name] = [into[name], value]
