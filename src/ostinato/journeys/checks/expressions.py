"""Check the expressions of a definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, islice

from ostinato.errors import did_you_mean
from ostinato.journeys.checks.parts import Role
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.expressions.contract import BINDINGS
from ostinato.journeys.expressions.suggestions import TEXTS
from ostinato.journeys.language import Expression
from ostinato.journeys.language.states import Choice
from ostinato.journeys.problems import Severity

_DATAWEAVE = "dataweave"
_PLAIN = "plain"
_JOLT = "jolt"
_BINDINGS = BINDINGS | {"result"}  # `output` is called `result` in DataWeave
_SCALAR = re.compile(r'-?\d+(\.\d+)?|null|"[^"]*"|\'[^\']*\'')
_CLOSING = {"[": "]", "{": "}"}
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


def language_is_known(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report expressions whose language is not installed. JOLT is left to the rule `jolt_only_maps`. If
    `checking.languages` is empty, report nothing."""
    for expression in _each(checking):
        if checking.languages and expression.lang not in checking.languages and expression.lang != _JOLT:
            hint = did_you_mean(expression.lang, checking.languages) or _installed(checking)
            yield RuleFinding((*expression.path, "lang"), f"there is no expression language {expression.lang!r}", hint)


def jolt_only_maps(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report JOLT in predicates and in `statusExpr`, because JOLT can only transform objects. Report JOLT in other
    expressions if JOLT is not installed. If `checking.languages` is empty, skip this second check."""
    for site in checking.sites:
        if site.expression.lang == _JOLT and site.role in (Role.PREDICATE, Role.STATUS):
            message = f"jolt cannot be a {site.role.value}"
            yield RuleFinding((*site.expression.path, "lang"), message, "use plain, dataweave, jq or jsonata")
        elif site.expression.lang == _JOLT and checking.languages and _JOLT not in checking.languages:
            message = "there is no expression language 'jolt'"
            yield RuleFinding((*site.expression.path, "lang"), message, _installed(checking))


def _installed(checking: CheckContext) -> str:
    return f"there are {', '.join(sorted(checking.languages))}"


def syntax(checking: CheckContext) -> Iterator[RuleFinding]:
    for expression in _each(checking):
        wrong = _wrong(checking, expression)
        if wrong is not None:
            yield RuleFinding((*expression.path, "expr"), f"the expression cannot be evaluated: {wrong}")


def _wrong(checking: CheckContext, expression: Expression) -> str | None:
    language = checking.languages.get(expression.lang)
    return None if language is None else language.check(expression.expr)


def predicate_decides(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report predicates that are a literal other than true and false."""
    for site in checking.sites:
        if site.role is Role.PREDICATE and _is_literal(site.expression.expr.strip()):
            yield RuleFinding(
                (*site.expression.path, "expr"), "a predicate is true or false, and this literal is neither"
            )


def _is_literal(expr: str) -> bool:
    """Return whether `expr` is a number, a string, `null`, or one list or object. A comparison of two lists, such as
    `[.a] == ["x"]`, is none of them, although it begins and ends with brackets."""
    if _SCALAR.fullmatch(expr):
        return True
    bare = TEXTS.sub('""', expr)
    if bare[-1:] != _CLOSING.get(bare[:1], " "):
        return False
    depths = accumulate((char in "[{(") - (char in "]})") for char in bare)
    return all(depth > 0 for depth in islice(depths, len(bare) - 1))


def join_language(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report mappers of joins that are written neither in DataWeave nor in its subset `plain`."""
    for site in checking.sites:
        if site.role is Role.JOIN and site.expression.lang not in (_DATAWEAVE, _PLAIN):
            message = f"the mapper of a join is dataweave or plain, not {site.expression.lang}"
            yield RuleFinding((*site.expression.path, "lang"), message, "write lang: plain, or lang: dataweave")


def names(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about a path in an expression that begins with an unknown name, for example `order.id` instead of
    `context.order.id`. In jq and JSONata, only a path at the start of the expression is checked, because a later path
    may begin at another value."""
    for expression in _each(checking):
        if expression.lang in _BEGINS:
            begins = _BEGINS[expression.lang].match(expression.expr)
            first, bindings, dot = [begins[1]] if begins else [], BINDINGS, "." if expression.lang == "jq" else ""
        elif expression.lang == _DATAWEAVE and "::" not in expression.expr:
            bare = TEXTS.sub('""', expression.expr)
            declared = {name for found in _MADE.findall(bare) for name in found if name}
            first, bindings, dot = [name for name in _FIRST.findall(bare) if name not in declared], _BINDINGS, ""
        else:
            continue
        wrong = [name for name in dict.fromkeys(first) if name not in bindings]
        for name in wrong if wrong and _wrong(checking, expression) is None else ():
            hint = did_you_mean(name, bindings) or f"a field of the context is {dot}context.{name}"
            yield RuleFinding((*expression.path, "expr"), f"{name!r} is not a name here", hint)


def several_fields(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about DataWeave such as `context - ["a", "b"]`. It fails, because `-` removes only one field."""
    for expression in _each(checking):
        if expression.lang == _DATAWEAVE and _MINUS_LIST.search(expression.expr):
            message = "`-` takes out one field, and not a list of them"
            yield RuleFinding((*expression.path, "expr"), message, 'write context -- ["a", "b"]')


def config_is_declared(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about values of `platform.config` that the definition does not declare. They do not exist at run time."""
    declared = checking.definition.spec.platform.config
    for expression in _each(checking):
        for name in dict.fromkeys(_CONFIG.findall(expression.expr)):
            if name not in declared:
                hint = did_you_mean(name, declared) or "declare it in spec.platform.config"
                message, needs = f"platform.config.{name} is not declared", ("spec", "platform", "config")
                yield RuleFinding((*expression.path, "expr"), message, hint, needs=needs)


def choice_is_total(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report a choice state that has no default, unless its last case is always true."""
    for graph, id, state in checking.definition.states_of(Choice):
        always = not state.choices or state.choices[-1].when.predicate.expr.strip() in ("true", "")  # "": unread
        if state.default is None and not always:
            message = "possibly no case is true, and there is no 'default'"
            yield RuleFinding(graph.at(id), message, "add default: …", key=True)


def _each(checking: CheckContext) -> Iterator[Expression]:
    """Yield every expression once, even if several places use it."""
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
