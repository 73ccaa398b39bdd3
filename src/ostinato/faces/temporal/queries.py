"""Compile the queries of Temporal's lists, such as `StartTime > '2026-01-01T00:00:00Z'`.

Compiling checks names and types, so that a wrong query is an error and not an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from ostinato.errors import OstinatoError, did_you_mean, short_repr
from ostinato.when.instants import from_datetime

Values: TypeAlias = Callable[[str], Any]
Test: TypeAlias = Callable[[Values], bool]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<text>'(?:[^'\\]|\\.|'')*' | "(?:[^"\\]|\\.|"")*")
    | (?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<name>[A-Za-z_]\w* | `[^`]+`)
    | (?P<sign><=|>=|<>|!=|=|<|>|\(|\)|,)
    )""",
    re.VERBOSE,
)
_WORDS = frozenset("AND OR NOT IN BETWEEN IS NULL STARTS_WITH TRUE FALSE ORDER GROUP BY".split())
_LONGEST = 10_000
_DEEPEST = 50
_DIGITS = 100  # characters of a number
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda value, operand: bool(value == operand),
    "!=": lambda value, operand: bool(value != operand),
    "<": lambda value, operand: bool(value < operand),
    "<=": lambda value, operand: bool(value <= operand),
    ">": lambda value, operand: bool(value > operand),
    ">=": lambda value, operand: bool(value >= operand),
}


class QueryError(OstinatoError):
    def __init__(self, words: str) -> None:
        super().__init__(f"invalid query: {words}")


@dataclass(frozen=True, slots=True)
class Query:
    """A compiled query. Call it to learn whether an object, such as a schedule, matches.

    The argument of the call is a function. It gets the name of an attribute, and returns the object's value for it.
    """

    test: Test
    names: frozenset[str]  # the attributes that the query uses
    exactly: Mapping[str, Any]  # from attribute to the value that every matching object has
    group: str | None = None  # the attribute by which counts are grouped

    def __call__(self, values: Values) -> bool:
        return self.test(values)


def read_query(text: str, types: Mapping[str, str], *, grouping: bool = False) -> Query:
    """Compile a query. `types` is a dict from attribute to type. Raises `OstinatoError` if the query is invalid.

    If `grouping` is true, the query may have a `GROUP BY`.
    """
    if len(text) > _LONGEST:
        raise QueryError(f"it has {len(text):,} characters; at most {_LONGEST:,} are allowed")
    return _Reader(text, types, grouping).query()


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str  # text, number, name, word, sign, end
    value: Any
    at: int


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if not text[at:].strip():
                break
            raise QueryError(f"{short_repr(text[at : at + 20].strip())} at character {at + 1} cannot be read")
        kind, word = match.lastgroup or "", match[match.lastgroup or 0]
        begin, at = match.end() - len(word), match.end()
        if kind == "text":
            quote = word[0]
            yield _Token("text", re.sub(r"\\(.)", r"\1", word[1:-1].replace(quote * 2, quote)), begin)
        elif kind == "number":
            if len(word) > _DIGITS:
                raise QueryError(f"the number at character {begin + 1} has more than {_DIGITS} characters")
            yield _Token("number", float(word) if re.search(r"[.eE]", word) else int(word), begin)
        elif kind == "name" and word.upper() in _WORDS:
            yield _Token("word", word.upper(), begin)
        else:
            yield _Token(kind, word.strip("`"), begin)
    yield _Token("end", "the end", len(text))


class _Reader:
    """A recursive descent parser for queries.

    A method that reads a condition returns a test and a dict. The test says whether an object matches the condition.
    The dict maps attributes to values. Every object that passes the test has these values. For example, the dict is
    `{"A": 1}` for `A = 1 AND B > 2`, and `{}` for `A = 1 OR B > 2`.
    """

    def __init__(self, text: str, types: Mapping[str, str], grouping: bool) -> None:
        self._tokens = list(_tokens(text))
        self._types = types
        self._grouping = grouping
        self._at = 0
        self._depth = 0
        self._names: set[str] = set()

    def query(self) -> Query:
        exactly: dict[str, Any] = {}
        test: Test = lambda values: True  # noqa: E731
        if not self._next_is("end") and not self._next_is("word", "GROUP", "ORDER"):
            test, exactly = self._any_of()
        group = None
        if self._take("word", "GROUP"):
            self._need("word", "BY")
            group = self._need("name").value
            if not self._grouping or group != "ExecutionStatus":
                raise QueryError(f"GROUP BY {group} is not possible here; counts of runs have GROUP BY ExecutionStatus")
        if self._next_is("word", "ORDER"):
            raise QueryError("ORDER BY is not possible; runs come newest first, schedules by their ids")
        self._need("end")
        return Query(test, frozenset(self._names), exactly, group)

    def _any_of(self) -> tuple[Test, dict[str, Any]]:
        tests = [self._all_of()]
        while self._take("word", "OR"):
            tests.append(self._all_of())
        if len(tests) == 1:
            return tests[0]
        parts = [test for test, _ in tests]
        return lambda values: any(part(values) for part in parts), {}

    def _all_of(self) -> tuple[Test, dict[str, Any]]:
        tests = [self._term()]
        while self._take("word", "AND"):
            tests.append(self._term())
        if len(tests) == 1:
            return tests[0]
        parts = [test for test, _ in tests]
        exactly = {name: value for _, exact in tests for name, value in exact.items()}
        return lambda values: all(part(values) for part in parts), exactly

    def _term(self) -> tuple[Test, dict[str, Any]]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise QueryError(f"it is nested more than {_DEEPEST} levels deep")
        try:
            if self._take("word", "NOT"):
                test, _ = self._term()
                return lambda values: not test(values), {}
            if self._take("sign", "("):
                group = self._any_of()
                self._need("sign", ")")
                return group
            return self._comparison()
        finally:
            self._depth -= 1

    def _comparison(self) -> tuple[Test, dict[str, Any]]:
        token = self._need("name")
        name, kind = token.value, self._types.get(token.value)
        if kind is None:
            hint = did_you_mean(name, self._types)
            raise OstinatoError(f'invalid query: cannot filter on "{name}"{"; " + hint if hint else ""}')
        self._names.add(name)
        if self._take("word", "IS"):
            negated = self._take("word", "NOT")
            self._need("word", "NULL")
            return lambda values: (values(name) is not None) is negated, {}
        if self._next_is("sign", *_COMPARE, "<>"):
            sign = self._need("sign").value
            return self._sign_test(name, kind, "!=" if sign == "<>" else sign)
        negated = self._take("word", "NOT")
        test = self._word_test(name, kind)
        return (lambda values: not test(values)) if negated else test, {}

    def _sign_test(self, name: str, kind: str, sign: str) -> tuple[Test, dict[str, Any]]:
        operand = self._value(name, kind)
        if kind in ("KeywordList", "Text", "Bool") and sign not in ("=", "!="):
            raise QueryError(f"{name} is {kind}, which has no order; use = or !=")
        same = _equal(kind, operand)
        if sign == "=":
            return lambda values: same(values(name)), {name: operand}
        if sign == "!=":
            return lambda values: not same(values(name)), {}
        compare = _COMPARE[sign]
        return lambda values: (value := values(name)) is not None and compare(value, operand), {}

    def _word_test(self, name: str, kind: str) -> Test:
        if self._take("word", "IN"):
            self._need("sign", "(")
            tests = [_equal(kind, self._value(name, kind))]
            while self._take("sign", ","):
                tests.append(_equal(kind, self._value(name, kind)))
            self._need("sign", ")")
            return lambda values: any(test(values(name)) for test in tests)
        if self._take("word", "BETWEEN"):
            low = self._value(name, kind)
            self._need("word", "AND")
            high = self._value(name, kind)
            if kind in ("KeywordList", "Text", "Bool"):
                raise QueryError(f"{name} is {kind}, which has no order; BETWEEN is not possible")
            return lambda values: (value := values(name)) is not None and low <= value <= high
        if self._take("word", "STARTS_WITH"):
            if kind not in ("Keyword", "KeywordList"):
                raise QueryError(f"{name} is {kind}; STARTS_WITH is for Keyword")
            begin = self._value(name, "Keyword")
            return lambda values: any(item.startswith(begin) for item in _list(values(name)))
        raise QueryError(f"after {name} a comparison is missing, before {short_repr(self._tokens[self._at].value)}")

    def _value(self, name: str, kind: str) -> Any:
        token = self._tokens[self._at]
        self._at += 1
        if token.kind == "word" and token.value in ("TRUE", "FALSE"):
            value: Any = token.value == "TRUE"
        elif token.kind in ("text", "number"):
            value = token.value
        else:
            raise QueryError(f"{short_repr(token.value)} is not a value for {name}; write texts in quotes")
        return _as(kind, value, name)

    def _next_is(self, kind: str, *values: str) -> bool:
        token = self._tokens[self._at]
        return token.kind == kind and (not values or token.value in values)

    def _take(self, kind: str, *values: str) -> bool:
        if self._next_is(kind, *values):
            self._at += 1
            return True
        return False

    def _need(self, kind: str, *values: str) -> _Token:
        token = self._tokens[self._at]
        if not self._next_is(kind, *values):
            wanted = " or ".join(values) or {"name": "an attribute", "end": "the end"}.get(kind, kind)
            raise QueryError(f"{short_repr(token.value)} at character {token.at + 1}, where {wanted} was expected")
        self._at += 1
        return token


def _as(kind: str, value: Any, name: str) -> Any:
    """Return `value` as `kind`, the type of the attribute `name`. Raises `QueryError` if it cannot be converted."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "Keyword" | "Text" | "KeywordList" if isinstance(value, str):
            return value
        case "Bool" if isinstance(value, bool):
            return value
        case "Bool" if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        case "Int" | "Double" if number:
            return value
        case "Datetime" if isinstance(value, int):
            return value // 1000  # nanoseconds since 1970
        case "Datetime" if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value)
            except ValueError:
                moment = None
            if moment is not None and moment.tzinfo is not None:
                return from_datetime(moment)
    raise QueryError(f"{short_repr(value)} is not a value for {name}, which is {kind}")


def _equal(kind: str, operand: Any) -> Callable[[Any], bool]:
    """Return a function that tests a value as `=` does in a query.

    A KeywordList must contain `operand`. A Text must contain all words of `operand`. Other values must be equal.
    """
    if kind == "KeywordList":
        return lambda value: operand in _list(value)
    if kind == "Text":
        words = _words(operand)
        return lambda value: isinstance(value, str) and words <= _words(value)
    return lambda value: value is not None and value == operand


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]
