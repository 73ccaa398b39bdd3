"""Rules about expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ostinato.errors import did_you_mean
from ostinato.journeys.checks.parts import Role
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language import Expression
from ostinato.journeys.language.states import Choice
from ostinato.journeys.problems import Severity

_DATAWEAVE = "dataweave"
_PLAIN = "plain"
_JOLT = "jolt"
_BINDINGS = frozenset("context payload platform error branches outcome output result".split())
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NOT_BOOLEAN = re.compile(r'-?\d+(\.\d+)?|null|"[^"]*"|\'[^\']*\'|\{.*\}|\[.*\]', re.DOTALL)
_FIRST = re.compile(r"(?<![\w.$:])([A-Za-z_]\w*)(?=\s*\.\s*[A-Za-z_\"'])")
_MADE = re.compile(
    r"\b(?:var|fun|ns|type)\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?=[,)=][^()]*\)?\s*->)|([A-Za-z_]\w*)\s*->"
)
_MINUS_LIST = re.compile(r"""(?<!-)-\s*\[\s*["']""")
_CONFIG = re.compile(r"\bplatform\.config\.([A-Za-z_]\w*)")


def language_is_known(checking: Checking) -> Iterator[Finding]:
    """The language of an expression is one of this engine's. Without any, nothing is said about languages."""
    for one in _each(checking):
        if checking.languages and one.lang not in checking.languages and one.lang != _JOLT:
            hint = did_you_mean(one.lang, checking.languages) or f"there are {', '.join(sorted(checking.languages))}"
            yield Finding((*one.path, "lang"), f"there is no expression language {one.lang!r}", hint)


def jolt_only_maps(checking: Checking) -> Iterator[Finding]:
    """JOLT makes objects of objects: it decides nothing, and computes no status."""
    for site in checking.sites:
        if site.expression.lang == _JOLT and site.role in (Role.PREDICATE, Role.STATUS):
            message = f"jolt cannot be a {site.role.value}"
            yield Finding((*site.expression.path, "lang"), message, "use plain, dataweave, jq or jsonata")
        elif site.expression.lang == _JOLT and checking.languages and _JOLT not in checking.languages:
            hint = f"there are {', '.join(sorted(checking.languages))}"
            yield Finding((*site.expression.path, "lang"), "there is no expression language 'jolt'", hint)


def syntax(checking: Checking) -> Iterator[Finding]:
    """An expression is one of its language."""
    for one in _each(checking):
        wrong = _wrong(checking, one)
        if wrong is not None:
            yield Finding((*one.path, "expr"), f"the expression cannot be evaluated: {wrong}")


def _wrong(checking: Checking, one: Expression) -> str | None:
    language = checking.languages.get(one.lang)
    return None if language is None else language.check(one.expr)


def predicate_decides(checking: Checking) -> Iterator[Finding]:
    """A predicate is true or false; a literal of another kind never is."""
    for site in checking.sites:
        if site.role is Role.PREDICATE and _NOT_BOOLEAN.fullmatch(site.expression.expr.strip()):
            yield Finding((*site.expression.path, "expr"), "a predicate is true or false, and this is neither")


def join_language(checking: Checking) -> Iterator[Finding]:
    """The mapper of a join is DataWeave, or `plain`, which is a part of it."""
    for site in checking.sites:
        if site.role is Role.JOIN and site.expression.lang not in (_DATAWEAVE, _PLAIN):
            message = f"the mapper of a join is dataweave or plain, not {site.expression.lang}"
            yield Finding((*site.expression.path, "lang"), message, "write lang: plain, or lang: dataweave")


def names(checking: Checking) -> Iterator[Finding]:
    """A name that begins a path in DataWeave is something that is there."""
    for one in _each(checking):
        if one.lang != _DATAWEAVE or "::" in one.expr or _wrong(checking, one) is not None:
            continue
        bare = _TEXTS.sub('""', one.expr)
        made = {name for found in _MADE.findall(bare) for name in found if name}
        for name in dict.fromkeys(_FIRST.findall(bare)):
            if name not in _BINDINGS and name not in made:
                message = f"{name!r} is not a name here"
                hint = did_you_mean(name, _BINDINGS) or f"a field of the context is context.{name}"
                yield Finding((*one.path, "expr"), message, hint)


def several_fields(checking: Checking) -> Iterator[Finding]:
    """`-` takes one field out of an object in DataWeave; with a list of names it fails when it is evaluated."""
    for one in _each(checking):
        if one.lang == _DATAWEAVE and _MINUS_LIST.search(one.expr):
            message = "`-` takes out one field, and not a list of them"
            yield Finding((*one.path, "expr"), message, 'write context -- ["a", "b"]')


def config_is_declared(checking: Checking) -> Iterator[Finding]:
    """What an expression reads from `platform.config` is declared; otherwise it is not there."""
    declared = checking.definition.spec.platform.config
    for one in _each(checking):
        for name in dict.fromkeys(_CONFIG.findall(one.expr)):
            if name not in declared:
                hint = did_you_mean(name, declared) or "declare it in spec.platform.config"
                message, needs = f"platform.config.{name} is not declared", ("spec", "platform", "config")
                yield Finding((*one.path, "expr"), message, hint, needs=needs)


def choice_is_total(checking: Checking) -> Iterator[Finding]:
    """A choice has a default, unless its last case is always true."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Choice) and state.default is None and not _always(state):
            yield Finding(graph.at(id), "no case may be true, and there is no 'default'", "add default: …", key=True)


def _always(state: Choice) -> bool:
    """Of a last case that could not be read nothing is known."""
    return not state.choices or state.choices[-1].when.predicate.expr.strip() in ("true", "")


def _each(checking: Checking) -> Iterator[Expression]:
    """Every expression once, where it is written."""
    yield from {site.expression.path: site.expression for site in checking.sites}.values()


RULES = (
    Rule("expression-language", language_is_known),
    Rule("expression-jolt", jolt_only_maps),
    Rule("expression-syntax", syntax),
    Rule("predicate-literal", predicate_decides),
    Rule("join-language", join_language),
    Rule("expression-name", names, Severity.WARNING),
    Rule("expression-minus", several_fields, Severity.WARNING),
    Rule("expression-config", config_is_declared, Severity.WARNING),
    Rule("choice-default", choice_is_total),
)
