"""Split a plain expression into tokens, and explain invalid expressions. The functions are pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ostinato.errors import did_you_mean
from ostinato.journeys.expressions.plain.certain import Unsure
from ostinato.journeys.expressions.plain.values import EQUAL, ORDER

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>\+\+|==|!=|<=|>=|[<>+\-*/.,:()\[\]{}])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_FOREIGN = (
    (r"===|!==", "write == or !="),
    (r"&&", "write `and`"),
    (r"\|\|", "write `or`"),
    (r"\?\?", "write `a default b`"),
    (r"\?", "write `if (condition) a else b`"),
    (r"=>|->", "there are no functions here; dataweave, jq and jsonata have them"),
    (r"=", "compare with =="),
    (r"!", "write `not`"),
    (r"\|", "this looks like jq; say `lang: jq`"),
    (r"\$", "names have no $: `context.a`; if this is jq or JSONata, say so in `lang`"),
    (r"&", "join texts with ++"),
    (r"%|\^|~|@|#|;|`|\\", "dataweave, jq and jsonata have more"),
)


class PlainSyntaxError(Exception):
    """Raised if an expression cannot be parsed. `at` is the position in the expression, in characters."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int
    apart: bool  # a space on both sides


def position(expr: str, at: int) -> str:
    line = expr.count("\n", 0, at) + 1
    return f"line {line}, column {at - (expr.rfind(chr(10), 0, at) + 1) + 1}"


def unknown_name(name: str, bindings: frozenset[str]) -> str:
    hint = did_you_mean(name, bindings) or f"a field of the context is context.{name}"
    return f"there is no {name!r} here; {hint}"


def tokens(expr: str, strict: bool) -> list[Token]:
    tokens_: list[Token] = []
    at = 0
    while at < len(expr):
        match = _TOKEN.match(expr, at)
        if match is None:
            raise PlainSyntaxError(_unreadable(expr, at), at)
        kind = str(match.lastgroup)
        end = match.end()
        if kind != "space":
            apart = expr[at - 1 : at].isspace() and expr[end : end + 1].isspace()
            signed = match[0] == "-" and expr[end : end + 1].isdigit()
            if strict and match[0] in ("+", "-", "*", "++", *EQUAL, *ORDER) and not apart and not signed:
                raise Unsure
            tokens_.append(Token(kind, match[0], at, apart))
        elif strict and match[0].startswith("//"):
            raise Unsure
        at = end
    return tokens_


def _unreadable(expr: str, at: int) -> str:
    if expr[at] in "\"'":
        return "a text is not closed"
    for pattern, words in _FOREIGN:
        if match := re.match(pattern, expr[at:]):
            return f"{match[0]} is not known here; {words}"
    return f"{expr[at]!r} is not known here"


def named(token: Token) -> str:
    return "a text" if token.kind == "text" else token.text


def misplaced(token: Token) -> str:
    if token.text == ".":
        return "begin with a name: context.a; if this is jq, say `lang: jq`"
    if token.text == "if":
        return "`if` beside other operators needs parentheses"
    if token.text == "not":
        return "`not` beside other operators needs parentheses: (not a) and b"
    return f"{named(token)} is not allowed here"


def left_over(token: Token) -> str:
    match token.text:
        case "then":
            return "there is no `then`: if (condition) a else b"
        case "in" | "contains":
            return f"there is no {token.text!r}; dataweave, jq and jsonata have more"
        case "as" | "map" | "filter" | "reduce" | "orderBy":
            return f"there is no {token.text!r} here; say `lang: dataweave`"
        case ":":
            return "an object is written in braces: {name: value}"
    return f"{named(token)} is not allowed here; an operator is missing before it"
