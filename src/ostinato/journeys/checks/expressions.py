"""Check the expressions of a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ostinato.errors import did_you_mean
from ostinato.journeys.checks.parts import Role
from ostinato.journeys.checks.rules import CheckContext, Finding, Rule
from ostinato.journeys.expressions.contract import BINDINGS
from ostinato.journeys.language import Expression
from ostinato.journeys.language.states import Choice
from ostinato.journeys.problems import Severity

_DATAWEAVE = "dataweave"
_PLAIN = "plain"
_JOLT = "jolt"
_BINDINGS = BINDINGS | {"result"}  # `output` is called `result` in DataWeave
_TEXTS = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_NOT_BOOLEAN = re.compile(r'-?\d+(\.\d+)?|null|"[^"]*"|\'[^\']*\'|\{.*\}|\[.*\]', re.DOTALL)
_FIRST = re.compile(r"(?<![\w.$:])([A-Za-z_]\w*)(?=\s*\.\s*[A-Za-z_\"'])")
# The first path of an expression, in languages where an unknown name is not an error.
_BEGINS = {
    "jq": re.compile(r"\s*\.([A-Za-z_]\w*)"),
    "jsonata": re.compile(r"\s*(?:\$\$?\s*\.\s*)?([A-Za-z_]\w*)\s*\."),
}
_MADE = re.compile(
    r"\b(?:var|fun|ns|type)\s+([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?=[,)=][^()]*\)?\s*->)|([A-Za-z_]\w*)\s*->"
)
_MINUS_LIST = re.compile(r"""(?<!-)-\s*\[\s*["']""")
_CONFIG = re.compile(r"\bplatform\.config\.([A-Za-z_]\w*)")


def language_is_known(checking: CheckContext) -> Iterator[Finding]:
    """Check that the language of each expression is installed. If no language at all is installed, nothing is
    reported."""
    for expression in _each(checking):
        if checking.languages and expression.lang not in checking.languages and expression.lang != _JOLT:
            hint = (
                did_you_mean(expression.lang, checking.languages)
                or f"there are {', '.join(sorted(checking.languages))}"
            )
            yield Finding((*expression.path, "lang"), f"there is no expression language {expression.lang!r}", hint)


def jolt_only_maps(checking: CheckContext) -> Iterator[Finding]:
    """Check that JOLT is installed if it is used, and that no predicate or status uses it. JOLT only transforms
    objects."""
    for site in checking.sites:
        if site.expression.lang == _JOLT and site.role in (Role.PREDICATE, Role.STATUS):
            message = f"jolt cannot be a {site.role.value}"
            yield Finding((*site.expression.path, "lang"), message, "use plain, dataweave, jq or jsonata")
        elif site.expression.lang == _JOLT and checking.languages and _JOLT not in checking.languages:
            hint = f"there are {', '.join(sorted(checking.languages))}"
            yield Finding((*site.expression.path, "lang"), "there is no expression language 'jolt'", hint)


def syntax(checking: CheckContext) -> Iterator[Finding]:
    """Check that each expression is valid in its language."""
    for expression in _each(checking):
        wrong = _wrong(checking, expression)
        if wrong is not None:
            yield Finding((*expression.path, "expr"), f"the expression cannot be evaluated: {wrong}")


def _wrong(checking: CheckContext, expression: Expression) -> str | None:
    language = checking.languages.get(expression.lang)
    return None if language is None else language.check(expression.expr)


def predicate_decides(checking: CheckContext) -> Iterator[Finding]:
    """Report each predicate that is a literal number, string, `null`, list or object."""
    for site in checking.sites:
        if site.role is Role.PREDICATE and _NOT_BOOLEAN.fullmatch(site.expression.expr.strip()):
            yield Finding((*site.expression.path, "expr"), "a predicate is true or false, and this literal is neither")


def join_language(checking: CheckContext) -> Iterator[Finding]:
    """Check that the mapper of a join is written in DataWeave or in its subset `plain`."""
    for site in checking.sites:
        if site.role is Role.JOIN and site.expression.lang not in (_DATAWEAVE, _PLAIN):
            message = f"the mapper of a join is dataweave or plain, not {site.expression.lang}"
            yield Finding((*site.expression.path, "lang"), message, "write lang: plain, or lang: dataweave")


def names(checking: CheckContext) -> Iterator[Finding]:
    """Check that a path in an expression begins with a bound name. In DataWeave every path is checked. In jq and
    JSONata only the first path is checked, because later ones may begin at another value."""
    for expression in _each(checking):
        if expression.lang in _BEGINS:
            begins = _BEGINS[expression.lang].match(expression.expr)
            first, bindings, dot = [begins[1]] if begins else [], BINDINGS, "." if expression.lang == "jq" else ""
        elif expression.lang == _DATAWEAVE and "::" not in expression.expr:
            bare = _TEXTS.sub('""', expression.expr)
            declared = {name for found in _MADE.findall(bare) for name in found if name}
            first, bindings, dot = [name for name in _FIRST.findall(bare) if name not in declared], _BINDINGS, ""
        else:
            continue
        wrong = [name for name in dict.fromkeys(first) if name not in bindings]
        for name in wrong if wrong and _wrong(checking, expression) is None else ():
            hint = did_you_mean(name, bindings) or f"a field of the context is {dot}context.{name}"
            yield Finding((*expression.path, "expr"), f"{name!r} is not a name here", hint)


def several_fields(checking: CheckContext) -> Iterator[Finding]:
    """Check that DataWeave's `-` is not used with a list of names. It removes only one field from an object, and fails
    with a list."""
    for expression in _each(checking):
        if expression.lang == _DATAWEAVE and _MINUS_LIST.search(expression.expr):
            message = "`-` takes out one field, and not a list of them"
            yield Finding((*expression.path, "expr"), message, 'write context -- ["a", "b"]')


def config_is_declared(checking: CheckContext) -> Iterator[Finding]:
    """Check that expressions read only values of `platform.config` that the definition declares. Other values are not
    there at run time."""
    declared = checking.definition.spec.platform.config
    for expression in _each(checking):
        for name in dict.fromkeys(_CONFIG.findall(expression.expr)):
            if name not in declared:
                hint = did_you_mean(name, declared) or "declare it in spec.platform.config"
                message, needs = f"platform.config.{name} is not declared", ("spec", "platform", "config")
                yield Finding((*expression.path, "expr"), message, hint, needs=needs)


def choice_is_total(checking: CheckContext) -> Iterator[Finding]:
    """Check that a choice state has a default, unless its last case is always true."""
    for graph, id, state in checking.definition.states():
        if isinstance(state, Choice) and state.default is None and not _always(state):
            yield Finding(
                graph.at(id), "possibly no case is true, and there is no 'default'", "add default: …", key=True
            )


def _always(state: Choice) -> bool:
    """Return whether the last case of a choice state is always true, or could not be read."""
    return not state.choices or state.choices[-1].when.predicate.expr.strip() in ("true", "")


def _each(checking: CheckContext) -> Iterator[Expression]:
    """Yield every expression once."""
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
