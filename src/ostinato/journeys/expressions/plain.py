"""The small language that every installation has, `plain`: paths, literals, comparisons and a few operators.

What it says is DataWeave, and means the same there. So it has two users:

- `lang: plain` evaluates everything that parses, and says what is wrong with the rest (`Plain.evaluate`).
- `lang: dataweave` is answered here, without the runtime, where the result is certain to be the runtime's own
  (`plain`). Wherever DataWeave has ways of its own (an escape, an order among texts, a long fraction), this says
  `NOT_PLAIN`, and the runtime is asked. `test_plain_is_what_the_runtime_says` holds the two against each other.

An expression has no loops and no variables. How much it does is counted all the same: it runs on the event loop.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation
from operator import ge, gt, le, lt
from typing import Final, NoReturn, TypeAlias

from ostinato.errors import did_you_mean
from ostinato.journeys.expressions.codes import Code
from ostinato.journeys.expressions.contract import BINDINGS
from ostinato.model import Json

NOT_PLAIN: Final = object()

_RESERVED = frozenset(
    "if else unless using as is null true false default case fun input output ns type import var and or throw do for"
    " yield enum private async not match update at with matches".split()
)
_WORDS: Final[Mapping[str, Json]] = {"null": None, "true": True, "false": False}
_FUNCTIONS = ("sizeOf", "isEmpty")
_OPERATORS = frozenset({"+", "-", "*", "/", "++", "and", "or", "not", "default"})
_CLOSING = (")", "]", "}", ",", ":")
_OWN = frozenset({*_WORDS, "and", "or", "not", "default", "if", "else"})
_ORDER: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_EQUAL = ("==", "!=")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DIGITS = 15  # of a number; with more, a float and a decimal may part ways
_DEEPEST = 40  # of parentheses, lists and objects within each other
_MOST_OPERATORS = 200
_STEPS = 100_000
_LONGEST = 40  # digits of a whole number; one with more is a float
_DECIMAL = Context(prec=34)
_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)
    |(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    |(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>\+\+|==|!=|<=|>=|[<>+\-*/.,:()\[\]{}])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/", "$": "$"}
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


class Failed(Exception):
    """An expression that cannot be evaluated."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Wrong(Exception):
    """An expression that cannot be read. `at`: where, in characters."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class _Unsure(Exception):
    """The runtime may say something else."""


class _Run:
    """One evaluation."""

    __slots__ = ("bindings", "left")

    def __init__(self, bindings: Mapping[str, Json]) -> None:
        self.bindings = bindings
        self.left = _STEPS

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Failed(Code.TOO_LARGE, f"it takes more than {_STEPS:,} steps")


_Term: TypeAlias = Callable[[_Run], Json]


def plain(expr: str, bindings: Mapping[str, Json]) -> Json:
    """The result of a DataWeave expression, or `NOT_PLAIN`."""
    term = _read_strictly(expr)
    if term is None:
        return NOT_PLAIN
    try:
        return _as_written(term(_Run(bindings)))
    except (_Unsure, Failed, RecursionError):
        return NOT_PLAIN


class Plain:
    """A plain expression that was read."""

    def __init__(self, expr: str) -> None:
        """Raises `Wrong`."""
        self._term = _Parser(expr, strict=False).whole()

    def evaluate(self, bindings: Mapping[str, Json], most: int) -> Json:
        """The result, of at most `most` characters as JSON. Raises `Failed`."""
        try:
            value = _as_written(self._term(_Run(bindings)))
        except (_Unsure, RecursionError):
            raise Failed(
                Code.RESULT_INVALID, "its result is not JSON: a number has more than 64 bits, or a text is no Unicode"
            ) from None
        if _longer(value, most):
            raise Failed(Code.TOO_LARGE, f"its result is larger than a result may be ({most} bytes of JSON)")
        return value


@functools.lru_cache(maxsize=4096)
def read(expr: str) -> Plain | Wrong:
    try:
        return Plain(expr)
    except Wrong as wrong:
        return wrong


@functools.lru_cache(maxsize=4096)
def _read_strictly(expr: str) -> _Term | None:
    try:
        return _Parser(expr, strict=True).whole()
    except (Wrong, _Unsure):
        return None


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int
    apart: bool  # a space on both sides


class _Parser:
    """From text to a function of an evaluation. `strict`: for DataWeave, where a doubt is `_Unsure`.

    What people read in two ways needs parentheses: `not` and `default` beside other operators, `++` beside `+`.
    """

    def __init__(self, expr: str, *, strict: bool) -> None:
        self._expr = expr
        self._strict = strict
        self._tokens = _tokens(expr, strict)
        self._at = 0
        self._depth = 0
        if sum(token.kind != "text" and token.text in _OPERATORS for token in self._tokens) > _MOST_OPERATORS:
            raise Wrong(f"it has more than {_MOST_OPERATORS} operators", 0)

    def whole(self) -> _Term:
        term = self._expression()
        if (token := self._peek()) is not None:
            self._wrong(_after(token), token)
        return term

    # The grammar, from the operators that bind least

    def _expression(self) -> _Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Wrong(f"it nests more than {_DEEPEST} deep", self._here())
        if self._next_is("if"):
            term = self._if()
        elif self._next_is("not"):
            term = self._not()
        else:
            first = self._signed()
            term = self._defaults(first) if self._next_is("default") else self._or(first)
        self._refuse(("default",), "beside other operators, put `a default b` into parentheses")
        self._depth -= 1
        return term

    def _if(self) -> _Term:
        token = self._take()
        if not self._next_is("("):
            raise Wrong("the condition of `if` stands in parentheses: if (condition) a else b", self._here())
        self._take()
        condition = self._expression()
        self._expect(")")
        then = self._expression()
        if not self._next_is("else"):
            raise Wrong("`if` has an `else`: if (condition) a else b", self._here())
        self._take()
        other = self._expression()
        if self._strict:

            def sure(run: _Run) -> Json:
                value, left, right = condition(run), then(run), other(run)
                if not isinstance(value, bool):
                    raise _Unsure
                return left if value else right

            return sure
        return lambda run: then(run) if _boolean(condition(run), "if", self._where(token)) else other(run)

    def _not(self) -> _Term:
        token = self._take()
        if self._strict and self._next_is("("):
            raise _Unsure
        term = self._comparison(self._signed())
        self._refuse(("and", "or"), "with `not` before it this needs parentheses: (not a) and b, or not (a and b)")
        if self._strict:
            return lambda run: not _sure_boolean(term(run))
        return lambda run: not _boolean(term(run), "not", self._where(token))

    def _defaults(self, term: _Term) -> _Term:
        while self._next_is("default"):
            self._take()
            term = functools.partial(_default_surely if self._strict else _default, term, self._signed())
        token = self._peek()
        if token is not None and (token.kind == "sign" or token.text in ("and", "or")) and token.text not in _CLOSING:
            self._wrong("beside other operators, put `a default b` into parentheses: (a default b) == c", token)
        return term

    def _or(self, first: _Term) -> _Term:
        term = self._and(first)
        while self._next_is("or"):
            token, left = self._take(), term
            term = self._either(token, left, self._and(self._signed()), True)
        return term

    def _and(self, first: _Term) -> _Term:
        term = self._comparison(first)
        while self._next_is("and"):
            token, left = self._take(), term
            term = self._either(token, left, self._comparison(self._signed()), False)
        return term

    def _either(self, token: _Token, left: _Term, right: _Term, decides: bool) -> _Term:
        if self._strict:

            def sure(run: _Run) -> Json:
                a, b = _sure_boolean(left(run)), _sure_boolean(right(run))
                return a or b if decides else a and b

            return sure

        def either(run: _Run) -> Json:
            where = self._where(token)
            first = _boolean(left(run), token.text, where)
            return first if first is decides else _boolean(right(run), token.text, where)

        return either

    def _comparison(self, first: _Term) -> _Term:
        left = self._sum(first)
        token = self._peek()
        if token is None or token.kind != "sign" or token.text not in (*_EQUAL, *_ORDER):
            return left
        self._take()
        right = self._sum(self._signed())
        self._refuse((*_EQUAL, *_ORDER), "one comparison beside another needs parentheses")
        operator = token.text
        if self._strict:
            return lambda run: _compare_surely(left(run), operator, right(run))
        return lambda run: _compare(run, left(run), operator, right(run), self._where(token))

    def _sum(self, first: _Term) -> _Term:
        term = self._product(first)
        before: _Token | None = None
        while (token := self._peek()) is not None and token.kind == "sign" and token.text in ("+", "-", "++"):
            if token.text == "-" and not token.apart:
                self._wrong('put spaces around `-`; a name with a `-` in it is quoted: context."a-b"', token)
            if before is not None and (before.text == "++") != (token.text == "++"):
                self._wrong("`++` beside + or - needs parentheses", token)
            before = self._take()
            left, right = term, self._product(self._signed())
            term = self._joined(left, right, token) if token.text == "++" else self._counted(left, right, token)
        return term

    def _product(self, first: _Term) -> _Term:
        term = first
        while (token := self._peek()) is not None and token.kind == "sign" and token.text in ("*", "/"):
            self._take()
            term = self._counted(term, self._signed(), token)
        return term

    def _counted(self, left: _Term, right: _Term, token: _Token) -> _Term:
        operator = token.text
        if self._strict:
            if operator == "/":
                raise _Unsure
            return lambda run: _count_surely(left(run), operator, right(run))
        return lambda run: _count(left(run), operator, right(run), self._where(token))

    def _joined(self, left: _Term, right: _Term, token: _Token) -> _Term:
        if self._strict:
            return lambda run: _join_surely(run, left(run), right(run))
        return lambda run: _join(run, left(run), right(run), self._where(token))

    def _signed(self) -> _Term:
        token = self._peek()
        if token is not None and token.text == "-" and token.kind == "sign":
            if token.at + 1 < len(self._expr) and self._expr[token.at + 1].isspace():
                self._wrong("a sign stands right before its number", token)
            self._take()
            following = self._peek()
            if following is not None and following.kind == "number":
                return self._number(self._take(), "-")
            if self._strict:
                raise _Unsure
            term = self._selected()
            return lambda run: _count(0, "-", term(run), self._where(token))
        return self._selected()

    def _selected(self) -> _Term:
        begin = self._peek()
        term = self._primary()
        steps: list[tuple[str | int, int]] = []
        while (token := self._peek()) is not None and token.text in (".", "[") and token.kind == "sign":
            self._take()
            steps.append((self._field(token) if token.text == "." else self._index(), token.at))
        if not steps:
            return term
        if self._strict:
            if begin is None or begin.kind != "name":
                raise _Unsure
            wanted = [step for step, _ in steps]
            return lambda run: _follow_surely(run, term(run), wanted)
        places = [(step, self._position(at)) for step, at in steps]
        return lambda run: _follow(run, term(run), places)

    def _field(self, dot: _Token) -> str:
        token = self._peek()
        if token is None or token.kind not in ("name", "text"):
            raise Wrong("a field is missing after the dot", dot.at + 1)
        self._take()
        if self._strict and (dot.apart or token.kind == "text" or token.text in _RESERVED or token.text[0] == "_"):
            raise _Unsure
        return token.text if token.kind == "name" else self._unquoted(token)

    def _index(self) -> str | int:
        sign = self._take().text if self._next_is("-") else ""
        token = self._peek()
        if token is not None and token.kind == "text" and not sign and not self._strict:
            self._take()
            step: str | int = self._unquoted(token)
        elif token is not None and token.kind == "number" and token.text.isdigit() and len(token.text) <= 6:
            self._take()
            step = int(sign + token.text)
        else:
            raise Wrong("an index is a whole number: [0] is the first, [-1] the last", self._here())
        if self._strict and sign:
            raise _Unsure
        self._expect("]")
        return step

    def _primary(self) -> _Term:
        token = self._peek()
        if token is None:
            raise Wrong("something is missing at the end", len(self._expr))
        self._take()
        if token.kind == "number":
            return self._number(token)
        if token.kind == "text":
            text = self._unquoted(token)
            return lambda _: text
        if token.text in _WORDS:
            value = _WORDS[token.text]
            return lambda _: value
        if token.kind == "name":
            return self._name(token)
        if token.text == "(":
            term = self._expression()
            self._expect(")")
            return term
        if token.text == "[":
            return self._list()
        if token.text == "{":
            return self._object()
        return self._wrong(_misplaced(token, self._expr), token)

    def _number(self, token: _Token, sign: str = "") -> _Term:
        text = sign + token.text
        if len(token.text) > 1 and token.text[0] == "0" and token.text[1].isdigit():
            self._wrong("a number does not begin with 0", token)
        if len(token.text) > 300 or ("e" in token.text.lower() and self._strict):
            raise Wrong("the number is too long", token.at)
        if self._strict and sum(char.isdigit() for char in text) > _DIGITS:
            raise _Unsure
        value = _narrowed(_DECIMAL.create_decimal(text))
        return lambda _: value

    def _name(self, token: _Token) -> _Term:
        name = token.text
        if name in _OWN:
            self._wrong(_misplaced(token, self._expr), token)
        if self._next_is("("):
            return self._function(token)
        if self._strict:
            if name in _RESERVED or name[0] == "_":
                raise _Unsure

            def bound(run: _Run) -> Json:
                if name not in run.bindings:
                    raise _Unsure
                return run.bindings[name]

            return bound
        if name not in BINDINGS:
            self._wrong(unknown_name(name, BINDINGS), token)
        return lambda run: run.bindings.get(name)

    def _function(self, token: _Token) -> _Term:
        if self._strict:
            raise _Unsure
        if token.text not in _FUNCTIONS:
            hint = did_you_mean(token.text, _FUNCTIONS) or f"there are {' and '.join(_FUNCTIONS)} only"
            self._wrong(f"there is no function {token.text}; {hint}. Dataweave, jq and jsonata have more", token)
        self._expect("(")
        term = self._expression()
        self._expect(")")
        if token.text == "sizeOf":
            return lambda run: _size_of(term(run), self._where(token))
        return lambda run: _is_empty(term(run), self._where(token))

    def _list(self) -> _Term:
        items: list[_Term] = []
        while not self._next_is("]"):
            items.append(self._expression())
            if not self._next_is("]"):
                self._expect(",")
        self._take()
        return lambda run: [item(run) for item in items]

    def _object(self) -> _Term:
        fields: dict[str, _Term] = {}
        while not self._next_is("}"):
            token = self._peek()
            if token is None or token.kind not in ("name", "text"):
                raise Wrong("a field is `name: value`, its name as it is or in quotes", self._here())
            self._take()
            name = token.text if token.kind == "name" else self._unquoted(token)
            if name in fields:
                self._wrong(f"the field {name!r} is there twice", token)
            if self._strict and (token.kind == "name" and (name in _RESERVED or name[0] == "_")):
                raise _Unsure
            self._expect(":")
            fields[name] = self._expression()
            if not self._next_is("}"):
                self._expect(",")
        self._take()
        return lambda run: {name: field(run) for name, field in fields.items()}

    def _unquoted(self, token: _Token) -> str:
        inner = token.text[1:-1]
        if self._strict:
            if "\\" in inner or "$" in inner or "\n" in inner:
                raise _Unsure
            return inner
        if found := re.search(r"(?<!\\)(?:\\\\)*\$", inner):
            raise Wrong(
                r"a $ in a text is written \$; to put a value into a text, use ++", token.at + 1 + found.end() - 1
            )

        def meant(found: re.Match[str]) -> str:
            if len(found[1]) == 5:
                return chr(int(found[1][1:], 16))
            if found[1] not in _ESCAPES:
                raise Wrong(f"there is no escape {found[0]} in a text", token.at + 1 + found.start())
            return _ESCAPES[found[1]]

        return _ESCAPE.sub(meant, inner)

    # Tokens

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _next_is(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.text == text and token.kind != "text"

    def _expect(self, sign: str) -> None:
        if not self._next_is(sign):
            token = self._peek()
            more = "" if token is None else f", and not {_named(token)}"
            raise Wrong(f"here should be {sign}{more}", self._here())
        self._take()

    def _refuse(self, texts: tuple[str, ...], message: str) -> None:
        token = self._peek()
        if token is not None and token.kind != "text" and token.text in texts:
            self._wrong(message, token)

    def _here(self) -> int:
        token = self._peek()
        return len(self._expr) if token is None else token.at

    def _wrong(self, message: str, token: _Token | None) -> NoReturn:
        raise Wrong(message, self._here() if token is None else token.at)

    def _position(self, at: int) -> str:
        return position(self._expr, at)

    def _where(self, token: _Token) -> str:
        return self._position(token.at)


def position(expr: str, at: int) -> str:
    line = expr.count("\n", 0, at) + 1
    return f"line {line}, column {at - (expr.rfind(chr(10), 0, at) + 1) + 1}"


def unknown_name(name: str, bindings: frozenset[str]) -> str:
    """What to say of a name that is not there."""
    hint = did_you_mean(name, bindings)
    if hint:
        return f"there is no {name!r} here; {hint}"
    return f"there is no {name!r} here; a field of the context is context.{name}"


def _tokens(expr: str, strict: bool) -> list[_Token]:
    found: list[_Token] = []
    at = 0
    while at < len(expr):
        match = _TOKEN.match(expr, at)
        if match is None:
            raise Wrong(_unreadable(expr, at), at)
        kind = str(match.lastgroup)
        end = match.end()
        if kind != "space":
            apart = expr[at - 1 : at].isspace() and expr[end : end + 1].isspace()
            signed = match[0] == "-" and expr[end : end + 1].isdigit()
            if strict and match[0] in ("+", "-", "*", "++", *_EQUAL, *_ORDER) and not apart and not signed:
                raise _Unsure
            found.append(_Token(kind, match[0], at, apart))
        elif strict and match[0].startswith("//"):
            raise _Unsure
        at = end
    return found


def _unreadable(expr: str, at: int) -> str:
    if expr[at] in "\"'":
        return "a text is not closed"
    for pattern, words in _FOREIGN:
        if found := re.match(pattern, expr[at:]):
            return f"{found[0]} is not known here; {words}"
    return f"{expr[at]!r} is not known here"


def _named(token: _Token) -> str:
    return "a text" if token.kind == "text" else token.text


def _misplaced(token: _Token, expr: str) -> str:
    if token.text == ".":
        return "begin with a name: context.a; if this is jq, say `lang: jq`"
    if token.text == "if":
        return "`if` beside other operators needs parentheses"
    if token.text == "not":
        return "`not` beside other operators needs parentheses: (not a) and b"
    return f"{_named(token)} cannot stand here"


def _after(token: _Token) -> str:
    match token.text:
        case "then":
            return "there is no `then`: if (condition) a else b"
        case "in" | "contains":
            return f"there is no {token.text!r}; dataweave, jq and jsonata have more"
        case "as" | "map" | "filter" | "reduce" | "orderBy":
            return f"there is no {token.text!r} here; say `lang: dataweave`"
        case ":":
            return "an object stands in braces: {name: value}"
    return f"{_named(token)} cannot stand here; an operator is missing before it"


# What both do


def _as_written(value: Json) -> Json:
    """As the runtime writes it: 1.0 is 1. What is not JSON is left to it."""
    match value:
        case None | bool():
            return value
        case str():
            if value.isascii() or not _SURROGATE.search(value):
                return value
        case int():
            if -(1 << 63) <= value < 1 << 64:
                return value
        case Decimal():
            return _as_written(_narrowed(value))
        case float():
            if value - value == 0:
                return int(value) if value.is_integer() and abs(value) < 1 << 63 else value
        case list():
            return [_as_written(item) for item in value]
        case dict():
            if all(isinstance(key, str) and _as_written(key) is not None for key in value):
                return {key: _as_written(item) for key, item in value.items()}
    raise _Unsure


def _narrowed(number: Decimal) -> Json:
    whole = number.adjusted() < _LONGEST and number == number.to_integral_value()
    return int(number) if whole else float(number)


def _decimal(value: Json) -> Decimal | None:
    """A number as a decimal; None for what is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    return Decimal(repr(value)) if isinstance(value, float) and value - value == 0 else None


_COUNT: Final[Mapping[str, Callable[[Decimal, Decimal], Decimal]]] = {
    "+": _DECIMAL.add,
    "-": _DECIMAL.subtract,
    "*": _DECIMAL.multiply,
    "/": _DECIMAL.divide,
}


# For DataWeave: its own result or none


def _sure_boolean(value: Json) -> bool:
    if not isinstance(value, bool):
        raise _Unsure
    return value


def _default_surely(left: _Term, right: _Term, run: _Run) -> Json:
    first, second = left(run), right(run)
    return second if first is None else first


def _follow_surely(run: _Run, value: Json, steps: list[str | int]) -> Json:
    for step in steps:
        if value is None:
            return None
        if isinstance(step, int):
            if not isinstance(value, list):
                raise _Unsure
            value = value[step] if step < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            run.spend(len(value))
            value = [item[step] for item in value if isinstance(item, dict) and step in item] or None
        else:
            raise _Unsure
    return value


def _compare_surely(left: Json, operator: str, right: Json) -> Json:
    """Equality among null, booleans, texts and numbers, and anything against null; order among numbers."""
    a, b = _comparable(left), _comparable(right)
    if operator in _ORDER:
        if not isinstance(a, Decimal) or not isinstance(b, Decimal):
            raise _Unsure
        return _ORDER[operator](a, b)
    if isinstance(a, list | dict) and isinstance(b, list | dict):
        raise _Unsure
    return (type(a) is type(b) and a == b) == (operator == "==")


def _comparable(value: Json) -> Json:
    if isinstance(value, bool) or value is None or isinstance(value, str | list | dict):
        return value
    number = _decimal(value)
    if number is None:
        raise _Unsure
    return number


def _count_surely(left: Json, operator: str, right: Json) -> Json:
    a, b = _few_digits(_decimal(left)), _few_digits(_decimal(right))
    return _narrowed(_few_digits(_COUNT[operator](a, b)))


def _few_digits(number: Decimal | None) -> Decimal:
    if number is None:
        raise _Unsure
    _, digits, exponent = number.as_tuple()
    if len(digits) > _DIGITS or not isinstance(exponent, int) or not -_DIGITS <= exponent <= 0:
        raise _Unsure
    return number


def _join_surely(run: _Run, left: Json, right: Json) -> Json:
    if not isinstance(left, str) or not isinstance(right, str):
        raise _Unsure
    run.spend((len(left) + len(right)) // 64)
    return left + right


# For `lang: plain`


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
    return "an object"


def _fail(where: str, message: str) -> NoReturn:
    raise Failed(Code.ERROR, f"{where}: {message}")


def _boolean(value: Json, operator: str, where: str) -> bool:
    if not isinstance(value, bool):
        hint = "; `(a default false)` makes null false" if value is None else ""
        _fail(where, f"`{operator}` takes true or false, and not {_kind(value)}{hint}")
    return value


def _default(left: _Term, right: _Term, run: _Run) -> Json:
    first = left(run)
    return right(run) if first is None else first


def _follow(run: _Run, value: Json, steps: list[tuple[str | int, str]]) -> Json:
    """Fields of objects, and of each object in a list; nothing there is null, and so is all within null."""
    for step, where in steps:
        if value is None:
            return None
        if isinstance(value, str):
            _fail(where, "a text has no fields and no items")
        if isinstance(step, int):
            if isinstance(value, dict):
                _fail(where, "an object has no items; its fields have names")
            value = value[step] if isinstance(value, list) and -len(value) <= step < len(value) else None
        elif isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list):
            run.spend(len(value))
            value = [item[step] for item in value if isinstance(item, dict) and step in item] or None
        else:
            return None
    return value


def _compare(run: _Run, left: Json, operator: str, right: Json, where: str) -> bool:
    if operator in _EQUAL:
        return _equal(run, left, right) == (operator == "==")
    a, b = _decimal(left), _decimal(right)
    if a is not None and b is not None:
        return _ORDER[operator](a, b)
    if isinstance(left, str) and isinstance(right, str):
        run.spend(min(len(left), len(right)) // 64)
        return _TEXT_ORDER[operator](left, right)
    return _fail(where, f"`{operator}` compares two numbers or two texts, and not {_kind(left)} with {_kind(right)}")


_TEXT_ORDER: Final[Mapping[str, Callable[[str, str], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def _equal(run: _Run, left: Json, right: Json) -> bool:
    run.spend(1)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(_equal(run, a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_equal(run, left[key], right[key]) for key in left)
    if isinstance(left, str) and isinstance(right, str):
        run.spend(min(len(left), len(right)) // 64)
        return left == right
    a, b = _decimal(left), _decimal(right)
    if a is not None or b is not None:
        return a == b
    return type(left) is type(right) and left == right


def _count(left: Json, operator: str, right: Json, where: str) -> Json:
    a, b = _decimal(left), _decimal(right)
    if a is None or b is None:
        hint = "; texts are joined with ++" if operator == "+" and isinstance(left, str) else ""
        _fail(where, f"`{operator}` takes two numbers, and not {_kind(left)} and {_kind(right)}{hint}")
    try:
        return _narrowed(_COUNT[operator](a, b))
    except DivisionByZero:
        _fail(where, "a division by zero")
    except (InvalidOperation, OverflowError):
        _fail(where, "the result is not a number")


def _join(run: _Run, left: Json, right: Json, where: str) -> Json:
    """Texts, numbers and booleans to a text; lists to a list; objects to an object, in which the right one wins."""
    if isinstance(left, list) and isinstance(right, list):
        run.spend(len(left) + len(right))
        return left + right
    if isinstance(left, dict) and isinstance(right, dict):
        run.spend(len(left) + len(right))
        return left | right
    if None in (left, right) or isinstance(left, list | dict) or isinstance(right, list | dict):
        _fail(where, f"`++` joins two texts, two lists or two objects, and not {_kind(left)} and {_kind(right)}")
    first, second = _as_text(left), _as_text(right)
    run.spend((len(first) + len(second)) // 64)
    return first + second


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    number = _decimal(value)
    return str(value) if number is None else f"{number.normalize():f}"


def _size_of(value: Json, where: str) -> Json:
    if value is None or isinstance(value, str | list | dict):
        return None if value is None else len(value)
    return _fail(where, f"sizeOf takes a text, a list or an object, and not {_kind(value)}")


def _is_empty(value: Json, where: str) -> Json:
    if value is None or isinstance(value, str | list | dict):
        return not value
    return _fail(where, f"isEmpty takes a text, a list or an object, and not {_kind(value)}")


def _longer(value: Json, most: int) -> bool:
    """Whether a value has more characters as JSON; looked at no longer than needed, since parts may be in it often."""
    left = most
    waiting: list[Json] = [value]
    while waiting:
        part = waiting.pop()
        left -= 2 + len(part) if isinstance(part, str | list | dict) else 1
        if left < 0:
            return True
        if isinstance(part, dict):
            waiting += part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return False
