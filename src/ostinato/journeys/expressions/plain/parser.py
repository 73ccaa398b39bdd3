"""Parse a plain expression into a pure function that takes the bindings and returns the result."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final, NoReturn

from ostinato.errors import did_you_mean
from ostinato.journeys.expressions.contract import BINDINGS
from ostinato.journeys.expressions.plain import certain, values
from ostinato.journeys.expressions.plain.certain import Unsure
from ostinato.journeys.expressions.plain.tokens import (
    PlainSyntaxError,
    Token,
    left_over,
    misplaced,
    named,
    position,
    tokens,
    unknown_name,
)
from ostinato.journeys.expressions.plain.values import DECIMAL, EQUAL, ORDER, Run, Term, narrowed
from ostinato.model import Json

_RESERVED = frozenset(
    "if else unless using as is null true false default case fun input output ns type import var and or throw do for"
    " yield enum private async not match update at with matches".split()
)
_WORDS: Final[Mapping[str, Json]] = {"null": None, "true": True, "false": False}
_FUNCTIONS = ("sizeOf", "isEmpty")
_OPERATORS = frozenset({"+", "-", "*", "/", "++", "and", "or", "not", "default"})
_CLOSING = (")", "]", "}", ",", ":")
_OWN = frozenset({*_WORDS, "and", "or", "not", "default", "if", "else"})
_DEEPEST = 40  # nesting of parentheses, lists and objects
_MOST_OPERATORS = 200
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/", "$": "$"}


class Parser:
    """Parses one expression. Raises `PlainSyntaxError` if the expression is invalid. If `strict` is true, the
    expression is DataWeave, and `Unsure` is raised if the DataWeave runtime might understand it differently.

    An expression is invalid if it lacks parentheses in one of these cases:

    - `not` beside `and` or `or`
    - `default` beside any other operator
    - `++` beside `+` or `-`
    - a comparison beside another comparison
    """

    def __init__(self, expr: str, *, strict: bool) -> None:
        self._expr = expr
        self._strict = strict
        self._tokens = tokens(expr, strict)
        self._at = 0
        self._depth = 0
        if sum(token.kind != "text" and token.text in _OPERATORS for token in self._tokens) > _MOST_OPERATORS:
            raise PlainSyntaxError(f"it has more than {_MOST_OPERATORS} operators", 0)

    def whole(self) -> Term:
        term = self._expression()
        if (token := self._peek()) is not None:
            self._wrong(left_over(token), token)
        return term

    # The grammar, from the weakest operators to the strongest

    def _expression(self) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise PlainSyntaxError(f"it nests more than {_DEEPEST} deep", self._here())
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

    def _if(self) -> Term:
        token = self._take()
        self._expect("(", "the condition of `if` must be in parentheses: if (condition) a else b")
        condition = self._expression()
        self._expect(")")
        then = self._expression()
        self._expect("else", "`if` has an `else`: if (condition) a else b")
        other = self._expression()
        if self._strict:

            def sure(run: Run) -> Json:
                value, left, right = condition(run), then(run), other(run)
                if not isinstance(value, bool):
                    raise Unsure
                return left if value else right

            return sure
        return lambda run: then(run) if values.boolean(condition(run), "if", self._where(token)) else other(run)

    def _not(self) -> Term:
        token = self._take()
        if self._strict and self._next_is("("):
            raise Unsure
        term = self._comparison(self._signed())
        self._refuse(("and", "or"), "with `not` before it this needs parentheses: (not a) and b, or not (a and b)")
        if self._strict:
            return lambda run: not certain.boolean(term(run))
        return lambda run: not values.boolean(term(run), "not", self._where(token))

    def _defaults(self, term: Term) -> Term:
        while self._next_is("default"):
            self._take()
            term = functools.partial(certain.default if self._strict else values.default, term, self._signed())
        token = self._peek()
        if token is not None and (token.kind == "sign" or token.text in ("and", "or")) and token.text not in _CLOSING:
            self._wrong("beside other operators, put `a default b` into parentheses: (a default b) == c", token)
        return term

    def _or(self, first: Term) -> Term:
        term = self._and(first)
        while self._next_is("or"):
            term = self._either(self._take(), term, self._and(self._signed()), True)
        return term

    def _and(self, first: Term) -> Term:
        term = self._comparison(first)
        while self._next_is("and"):
            term = self._either(self._take(), term, self._comparison(self._signed()), False)
        return term

    def _either(self, token: Token, left: Term, right: Term, decides: bool) -> Term:
        if self._strict:

            def sure(run: Run) -> Json:
                a, b = certain.boolean(left(run)), certain.boolean(right(run))
                return a or b if decides else a and b

            return sure

        def either(run: Run) -> Json:
            where = self._where(token)
            first = values.boolean(left(run), token.text, where)
            return first if first is decides else values.boolean(right(run), token.text, where)

        return either

    def _comparison(self, first: Term) -> Term:
        left = self._sum(first)
        token = self._peek()
        if token is None or token.kind != "sign" or token.text not in (*EQUAL, *ORDER):
            return left
        self._take()
        right = self._sum(self._signed())
        self._refuse((*EQUAL, *ORDER), "one comparison beside another needs parentheses")
        operator = token.text
        if self._strict:
            return lambda run: certain.compare(left(run), operator, right(run))
        return lambda run: values.compare(run, left(run), operator, right(run), self._where(token))

    def _sum(self, first: Term) -> Term:
        term = self._product(first)
        before: Token | None = None
        while (token := self._peek()) is not None and token.kind == "sign" and token.text in ("+", "-", "++"):
            if token.text == "-" and not token.apart:
                self._wrong('put spaces around `-`; a name with a `-` in it is quoted: context."a-b"', token)
            if before is not None and (before.text == "++") != (token.text == "++"):
                self._wrong("`++` beside + or - needs parentheses", token)
            before = self._take()
            left, right = term, self._product(self._signed())
            term = self._joined(left, right, token) if token.text == "++" else self._counted(left, right, token)
        return term

    def _product(self, first: Term) -> Term:
        term = first
        while (token := self._peek()) is not None and token.kind == "sign" and token.text in ("*", "/"):
            self._take()
            term = self._counted(term, self._signed(), token)
        return term

    def _counted(self, left: Term, right: Term, token: Token) -> Term:
        operator = token.text
        if self._strict:
            if operator == "/":
                raise Unsure
            return lambda run: certain.count(left(run), operator, right(run))
        return lambda run: values.count(left(run), operator, right(run), self._where(token))

    def _joined(self, left: Term, right: Term, token: Token) -> Term:
        if self._strict:
            return lambda run: certain.join(run, left(run), right(run))
        return lambda run: values.join(run, left(run), right(run), self._where(token))

    def _signed(self) -> Term:
        token = self._peek()
        if token is not None and token.text == "-" and token.kind == "sign":
            if token.at + 1 < len(self._expr) and self._expr[token.at + 1].isspace():
                self._wrong("a sign must be right before its number", token)
            self._take()
            following = self._peek()
            if following is not None and following.kind == "number":
                return self._number(self._take(), "-")
            if self._strict:
                raise Unsure
            term = self._selected()
            return lambda run: values.count(0, "-", term(run), self._where(token))
        return self._selected()

    def _selected(self) -> Term:
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
                raise Unsure
            wanted = [step for step, _ in steps]
            return lambda run: certain.follow(run, term(run), wanted)
        places = [(step, position(self._expr, at)) for step, at in steps]
        return lambda run: values.follow(run, term(run), places)

    def _field(self, dot: Token) -> str:
        token = self._peek()
        if token is None or token.kind not in ("name", "text"):
            raise PlainSyntaxError("a field is missing after the dot", dot.at + 1)
        self._take()
        if self._strict and (dot.apart or token.kind == "text" or token.text in _RESERVED or token.text[0] == "_"):
            raise Unsure
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
            raise PlainSyntaxError("an index is a whole number: [0] is the first, [-1] the last", self._here())
        if self._strict and sign:
            raise Unsure
        self._expect("]")
        return step

    def _primary(self) -> Term:
        token = self._peek()
        if token is None:
            raise PlainSyntaxError("something is missing at the end", len(self._expr))
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
        return self._wrong(misplaced(token), token)

    def _number(self, token: Token, sign: str = "") -> Term:
        text = sign + token.text
        if len(token.text) > 1 and token.text[0] == "0" and token.text[1].isdigit():
            self._wrong("a number does not begin with 0", token)
        if len(token.text) > 300 or ("e" in token.text.lower() and self._strict):
            raise PlainSyntaxError("the number is too long", token.at)
        if self._strict and sum(char.isdigit() for char in text) > certain.DIGITS:
            raise Unsure
        value = narrowed(DECIMAL.create_decimal(text))
        return lambda _: value

    def _name(self, token: Token) -> Term:
        name = token.text
        if name in _OWN:
            self._wrong(misplaced(token), token)
        if self._next_is("("):
            return self._function(token)
        if self._strict:
            if name in _RESERVED or name[0] == "_":
                raise Unsure

            def bound(run: Run) -> Json:
                if name not in run.bindings:
                    raise Unsure
                return run.bindings[name]

            return bound
        if name not in BINDINGS:
            self._wrong(unknown_name(name, BINDINGS), token)
        return lambda run: run.bindings.get(name)

    def _function(self, token: Token) -> Term:
        if self._strict:
            raise Unsure
        if token.text not in _FUNCTIONS:
            hint = did_you_mean(token.text, _FUNCTIONS) or f"there are {' and '.join(_FUNCTIONS)} only."
            self._wrong(f"there is no function {token.text}; {hint} Dataweave, jq and jsonata have more", token)
        self._expect("(")
        term = self._expression()
        self._expect(")")
        if token.text == "sizeOf":
            return lambda run: values.size_of(term(run), self._where(token))
        return lambda run: values.is_empty(term(run), self._where(token))

    def _list(self) -> Term:
        items: list[Term] = []
        while not self._next_is("]"):
            items.append(self._expression())
            if not self._next_is("]"):
                self._expect(",")
        self._take()
        return lambda run: [item(run) for item in items]

    def _object(self) -> Term:
        fields: dict[str, Term] = {}
        while not self._next_is("}"):
            token = self._peek()
            if token is None or token.kind not in ("name", "text"):
                raise PlainSyntaxError("a field is `name: value`, its name as it is or in quotes", self._here())
            self._take()
            name = token.text if token.kind == "name" else self._unquoted(token)
            if name in fields:
                self._wrong(f"the field {name!r} is there twice", token)
            if self._strict and (token.kind == "name" and (name in _RESERVED or name[0] == "_")):
                raise Unsure
            self._expect(":")
            fields[name] = self._expression()
            if not self._next_is("}"):
                self._expect(",")
        self._take()
        return lambda run: {name: field(run) for name, field in fields.items()}

    def _unquoted(self, token: Token) -> str:
        inner = token.text[1:-1]
        if self._strict:
            if "\\" in inner or "$" in inner or "\n" in inner:
                raise Unsure
            return inner
        if match := re.search(r"(?<!\\)(?:\\\\)*\$", inner):
            raise PlainSyntaxError(
                r"a $ in a text is written \$; to put a value into a text, use ++", token.at + 1 + match.end() - 1
            )

        def meant(match: re.Match[str]) -> str:
            if len(match[1]) == 5:
                return chr(int(match[1][1:], 16))
            if match[1] not in _ESCAPES:
                raise PlainSyntaxError(f"there is no escape {match[0]} in a text", token.at + 1 + match.start())
            return _ESCAPES[match[1]]

        return _ESCAPE.sub(meant, inner)

    # Tokens

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _next_is(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.text == text and token.kind != "text"

    def _expect(self, sign: str, message: str = "") -> None:
        if not self._next_is(sign):
            token = self._peek()
            more = "" if token is None else f", and not {named(token)}"
            raise PlainSyntaxError(message or f"here should be {sign}{more}", self._here())
        self._take()

    def _refuse(self, texts: tuple[str, ...], message: str) -> None:
        token = self._peek()
        if token is not None and token.kind != "text" and token.text in texts:
            self._wrong(message, token)

    def _here(self) -> int:
        token = self._peek()
        return len(self._expr) if token is None else token.at

    def _wrong(self, message: str, token: Token) -> NoReturn:
        raise PlainSyntaxError(message, token.at)

    def _where(self, token: Token) -> str:
        return position(self._expr, token.at)
