"""Run the task `xmlDecode:v1`, which converts XML to JSON. Documents with a DOCTYPE are refused, so entities are
neither expanded nor fetched. The depth, the size, and the number of elements and attributes are limited.

The result is an object with the root element under its name. Elements are converted by these rules:

- An element with attributes or child elements becomes an object. Attributes have keys such as `@name`, and text has the
  key `#text`. Child elements have their names as keys.
- Any other element becomes its text, or null if it has no text.
- Repeated child elements become a list.
- Names keep their prefixes.
- In an element with child elements, the text is trimmed.
- Comments and processing instructions are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn
from xml.parsers import expat

from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import identifier, key, of, text
from ostinato.journeys.language.states import Target
from ostinato.journeys.machine.values import UnusableValue, with_result
from ostinato.journeys.task_kind import Fault, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.model import Json

LARGEST = 1 << 20  # characters
DEEPEST = 64
MOST_ELEMENTS = 50_000
PARSE_ERROR = "urn:xml-decode:parse-error"


class NotXml(Exception):
    """Raised if a text cannot be decoded. The message contains nothing of the text."""


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
        return check_settings(XmlDecodeSettings, settings, _faults)

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(XmlDecodeSettings, call.settings)
        source: Any = call.context
        for step in settings.source_var.split("."):
            source = source.get(step) if isinstance(source, Mapping) else None
        if not isinstance(source, str):
            return _problem(f"context.{settings.source_var} is not a text")
        target, variable = settings.target, settings.result_var
        if variable is not None and not target.path and "target" not in call.settings:
            target = Target(kind="var")
        try:
            return TaskResult(with_result(call.context, target, variable, decode_xml(source)))
        except (NotXml, UnusableValue) as problem:
            return _problem(str(problem))


def _problem(detail: str) -> TaskProblem:
    return TaskProblem(PARSE_ERROR, "The XML cannot be decoded", detail, type=PARSE_ERROR)


def decode_xml(source: str) -> dict[str, Any]:
    if len(source) > LARGEST:
        raise NotXml(f"it has {len(source):,} characters; the maximum is {LARGEST:,}")
    return _Decoder().document(source)


@dataclass(slots=True)
class _Element:
    name: str
    value: dict[str, Any]
    text: list[str] = field(default_factory=list)
    children: bool = False


class _Decoder:
    def __init__(self) -> None:
        self._open: list[_Element] = [_Element("", {})]
        self._count = 0
        self._parser = expat.ParserCreate("utf-8")  # ignores the declared encoding: the text is decoded already
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
        elif isinstance(into[name], list):  # a list of repeated children: the value of one element is never a list
            into[name].append(value)
        else:
            into[name] = [into[name], value]
