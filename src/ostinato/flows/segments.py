"""Select the users of a campaign.

The users of a campaign are a segment. A caller describes the segment with a selector, a JSON object. The selector is
checked at once, but evaluated only when the campaign begins.

A selector may contain a query in a small language over the fields of users. The query is evaluated in Python, so no
text of a caller becomes part of an SQL statement.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, check_text, did_you_mean, short_repr
from ostinato.flows.model import UserRecord
from ostinato.when.durations import DAY
from ostinato.when.instants import Micros, read_instant

TYPES = ("all", "active_since", "tag", "custom_query", "users")
MOST_QUERY = 2_000  # characters
MOST_TERMS = 100
MOST_DEPTH = 10
MOST_VALUES = 100  # in one list
MOST_PARAMS = 16 << 10  # bytes
MOST_USERS = 1_000  # of a segment of named users
MOST_DAYS = 3_660

_TEXTS = ("external_id", "address", "name", "tz", "locale", "consent")
_FORMER_TZ = "zone"  # the name of `tz` in queries that were stored before it was renamed
_TIMES = ("created", "active")
_FIELDS = (*_TEXTS, *_TIMES, "tags")
_WORDS = frozenset(("and", "or", "not", "in", "has", "true", "false", "null"))
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>"(?:[^"\\]|\\["\\])*"|'(?:[^'\\]|\\['\\])*')
      | (?P<number>-?\d+(?:\.\d+)?)(?![\w.])
      | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*)
      | (?P<sign><=|>=|!=|=|<|>|\(|\)|,)
    )""",
    re.VERBOSE,
)
_ORDER: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


@dataclass(frozen=True, slots=True)
class Term:
    """A comparison of a field with a value. For the operator `in`, the value is a tuple of values."""

    field: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Group:
    """Filters that are combined with `and` or `or`, or one filter that is negated with `not`."""

    word: str
    parts: tuple[Filter, ...]


Filter: TypeAlias = Term | Group


@dataclass(frozen=True, slots=True)
class Segment:
    """A checked selector. If its type is `custom_query`, `filter` is the parsed query."""

    type: str
    active_since_days: int | None = None
    tag: str | None = None
    query: str | None = None
    resolver: str | None = None
    params: Mapping[str, Any] | None = None
    users: tuple[str, ...] = ()
    filter: Filter | None = None

    def as_json(self) -> dict[str, Any]:
        values = {
            "type": self.type,
            "active_since_days": self.active_since_days,
            "tag": self.tag,
            "query": self.query,
            "resolver": self.resolver,
            "params": None if self.params is None else dict(self.params),
            "users": list(self.users) or None,
        }
        return {name: value for name, value in values.items() if value is not None}

    @property
    def id(self) -> str:
        """A hash of the selector. Equal selectors have equal ids."""
        return hashlib.sha256(orjson.dumps(self.as_json(), option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]

    def since(self, scheduled_for: Micros) -> Micros:
        """Return when the period of an `active_since` segment begins: some days before `scheduled_for`, the due time of
        the campaign. Users who have sent a message since then belong to the segment."""
        return scheduled_for - (self.active_since_days or 0) * DAY


_OF_TYPE: Mapping[str, tuple[str, ...]] = {
    "all": (),
    "active_since": ("active_since_days",),
    "tag": ("tag",),
    "custom_query": ("query", "resolver", "params"),
    "users": ("users",),
}


def check_segment(selector: object, where: str = "the segment") -> Segment:
    """Read a selector such as `{"type": "tag", "tag": "vip"}`. Raises OstinatoError if it is invalid."""
    if not isinstance(selector, Mapping):
        raise OstinatoError(f'{where} {short_repr(selector)} is not an object such as {{"type": "all"}}')
    kind = selector.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        hint = did_you_mean(kind, TYPES) if isinstance(kind, str) else ""
        raise OstinatoError(f"{where}: type {short_repr(kind)} is none of {', '.join(TYPES)}{hint and '; ' + hint}")
    allowed = _OF_TYPE[kind]
    for name in selector:
        if name != "type" and name not in allowed:
            hint = did_you_mean(str(name), allowed) or f"it has {', '.join(('type', *allowed))}"
            raise OstinatoError(f"{where} of type {kind!r} has no {short_repr(name)}; {hint}")
    if kind == "active_since":
        return Segment(kind, active_since_days=_days(selector.get("active_since_days"), where))
    if kind == "tag":
        if selector.get("tag") is None:
            raise OstinatoError(f"{where}: tag is missing")
        check_text(selector["tag"], f"{where}: tag")
        return Segment(kind, tag=selector["tag"])
    if kind == "users":
        return Segment(kind, users=_users(selector.get("users"), where))
    return _custom(selector, where) if kind == "custom_query" else Segment(kind)


def _days(value: object, where: str) -> int:
    if value is None:
        raise OstinatoError(f"{where}: active_since_days is missing; it is a whole number from 1 to {MOST_DAYS:,}")
    if type(value) is not int or not 1 <= value <= MOST_DAYS:
        raise OstinatoError(
            f"{where}: active_since_days {short_repr(value)} is not a whole number from 1 to {MOST_DAYS:,}"
        )
    return value


def _users(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        raise OstinatoError(f"{where}: users is missing; it is a list of 1 to {MOST_USERS:,} external ids")
    if not isinstance(value, list | tuple) or not 1 <= len(value) <= MOST_USERS:
        raise OstinatoError(f"{where}: users {short_repr(value)} is not a list of 1 to {MOST_USERS:,} external ids")
    for user in value:
        check_text(user, f"{where}: a user")
    return tuple(sorted(set(value)))


def _custom(selector: Mapping[str, Any], where: str) -> Segment:
    query, resolver, params = selector.get("query"), selector.get("resolver"), selector.get("params")
    if (query is None) == (resolver is None):
        raise OstinatoError(f"{where} of type 'custom_query' has either a query or a resolver")
    if query is not None:
        if params is not None:
            raise OstinatoError(f"{where}: params belong to a resolver; a query has none")
        return Segment("custom_query", query=query, filter=parse_query(query, f"{where}: query"))
    check_text(resolver, f"{where}: resolver")
    if params is not None and not isinstance(params, Mapping):
        raise OstinatoError(f"{where}: params {short_repr(params)} is not an object")
    if params is not None and len(to_json(dict(params), f"{where}: params")) > MOST_PARAMS:
        raise OstinatoError(f"{where}: params have more than {MOST_PARAMS:,} bytes")
    return Segment("custom_query", resolver=resolver, params=params)


# The language


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    at: int


def parse_query(query: object, where: str = "the query") -> Filter:
    """Parse a query such as `locale = "pt" and tags has "vip"`. Raises OstinatoError if the query is invalid; the
    message names the position of the mistake."""
    if not isinstance(query, str) or not query.strip():
        raise OstinatoError(f"{where} {short_repr(query)} is not a text such as 'tags has \"vip\"'")
    if len(query) > MOST_QUERY:
        raise OstinatoError(f"{where} has {len(query):,} characters; at most {MOST_QUERY:,} are taken")
    check_text(query, where)
    return _Parser(_tokens(query, where), where, len(query)).parse()


def _tokens(query: str, where: str) -> list[Token]:
    tokens, at = [], 0
    end = len(query.rstrip())
    while at < end:
        match = _TOKEN.match(query, at)
        if match is None:
            rest = query[at:].lstrip()
            place = len(query) - len(rest) + 1
            raise OstinatoError(f"{where}, at character {place}: {short_repr(rest[:20])} is not part of the language")
        kind = str(match.lastgroup)
        text = match.group(kind)
        if kind == "name" and text.lower() in _WORDS:
            kind, text = "word", text.lower()
        tokens.append(Token(kind, text, match.start(str(match.lastgroup)) + 1))
        at = match.end()
    return tokens


class _Parser:
    """A recursive-descent parser with at most `MOST_DEPTH` levels."""

    def __init__(self, tokens: Sequence[Token], where: str, length: int) -> None:
        self._tokens = tokens
        self._where = where
        self._end = Token("end", "the end", length + 1)
        self._at = 0
        self._terms = 0

    def parse(self) -> Filter:
        parsed = self._either(0)
        if self._peek.kind != "end":
            raise self._problem(self._peek, f"{short_repr(self._peek.text)} is not expected; join terms by and, or")
        return parsed

    @property
    def _peek(self) -> Token:
        return self._tokens[self._at] if self._at < len(self._tokens) else self._end

    def _take(self) -> Token:
        token = self._peek
        self._at += 1
        return token

    def _accept(self, text: str) -> bool:
        if self._peek.kind in ("word", "sign") and self._peek.text == text:
            self._at += 1
            return True
        return False

    def _problem(self, token: Token, words: str) -> OstinatoError:
        return OstinatoError(f"{self._where}, at character {token.at}: {words}")

    def _either(self, depth: int) -> Filter:
        return self._joined("or", lambda: self._joined("and", lambda: self._negated(depth)))

    def _joined(self, word: str, part: Callable[[], Filter]) -> Filter:
        parts = [part()]
        while self._accept(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Group(word, tuple(parts))

    def _negated(self, depth: int) -> Filter:
        if depth > MOST_DEPTH:
            raise self._problem(self._peek, f"more than {MOST_DEPTH} levels of not and parentheses")
        if self._accept("not"):
            return Group("not", (self._negated(depth + 1),))
        if self._accept("("):
            inner = self._either(depth + 1)
            if not self._accept(")"):
                raise self._problem(self._peek, f"{short_repr(self._peek.text)} is not the ) that is missing")
            return inner
        return self._term()

    def _term(self) -> Term:
        self._terms += 1
        name = self._take()
        if name == Token("name", _FORMER_TZ, name.at):
            name = Token("name", "tz", name.at)
        if self._terms > MOST_TERMS:
            raise self._problem(name, f"more than {MOST_TERMS} comparisons")
        if name.kind != "name":
            raise self._problem(name, f"{short_repr(name.text)} is not a field; there are {', '.join(_FIELDS)}, data.…")
        self._check_field(name)
        operator = self._take()
        if operator.text not in ("=", "!=", "in", "has", *_ORDER) or operator.kind not in ("sign", "word"):
            words = f"{short_repr(operator.text)} is not an operator; there are =, !=, <, <=, >, >=, in, has"
            raise self._problem(operator, words)
        self._check_operator(name, operator)
        return Term(name.text, operator.text, self._values(name, operator))

    def _check_field(self, name: Token) -> None:
        first, _, rest = name.text.partition(".")
        if first == "data" and rest:
            if rest.count(".") > 4:
                raise self._problem(name, f"{short_repr(name.text)} is deeper than 5 levels")
            return
        if name.text not in _FIELDS:
            hint = did_you_mean(name.text, _FIELDS)
            hint = hint or f"did you mean 'data.{name.text}'? The other fields are {', '.join(_FIELDS)}"
            raise self._problem(name, f"users have no field {short_repr(name.text)}; {hint}")

    def _check_operator(self, name: Token, operator: Token) -> None:
        if (name.text == "tags") != (operator.text == "has") and not name.text.startswith("data."):
            words = 'write tags has "…"' if name.text == "tags" else f"{name.text} is no list; has is for tags and data"
            raise self._problem(operator, words)
        if name.text in _TEXTS and operator.text in _ORDER:
            raise self._problem(operator, f"{name.text} is compared by =, != and in")
        if name.text in _TIMES and operator.text in ("in", "has"):
            raise self._problem(operator, f"{name.text} is a time; it is compared by =, !=, <, <=, > and >=")

    def _values(self, name: Token, operator: Token) -> Any:
        if operator.text != "in":
            return self._value(name, operator)
        if not self._accept("("):
            raise self._problem(self._peek, f'{short_repr(self._peek.text)} is not a list such as ("a", "b")')
        values = [self._value(name, operator)]
        while self._accept(","):
            values.append(self._value(name, operator))
            if len(values) > MOST_VALUES:
                raise self._problem(self._peek, f"more than {MOST_VALUES} values in a list")
        if not self._accept(")"):
            raise self._problem(self._peek, f"{short_repr(self._peek.text)} is not the ) that is missing")
        return tuple(values)

    def _value(self, name: Token, operator: Token) -> Any:
        token = self._take()
        value = self._literal(token)
        if name.text in _TIMES and value is not None:
            try:
                return read_instant(value, name.text)
            except OstinatoError as problem:
                raise self._problem(token, str(problem)) from None
        if name.text in (*_TEXTS, "tags") and not isinstance(value, str | None):
            raise self._problem(token, f"{token.text} is no text; {name.text} is compared with texts")
        if operator.text in _ORDER and (value is None or isinstance(value, bool)):
            raise self._problem(token, f"{token.text} has no order; compare it by = or !=")
        return value

    def _literal(self, token: Token) -> Any:
        if token.kind == "text":
            return re.sub(r"\\(.)", r"\1", token.text[1:-1])
        if token.kind == "number":
            return float(token.text) if "." in token.text else int(token.text)
        if token.kind == "word" and token.text in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token.text]
        raise self._problem(token, f'{short_repr(token.text)} is not a value; write "text", 12, true, false or null')


# Evaluating


def matches(filter: Filter, user: UserRecord, tags: Sequence[str]) -> bool:
    """Return whether a user matches `filter`, a parsed query.

    If the query compares values of different types, `=`, `<`, `<=`, `>` and `>=` are false, and `!=` is true. All
    numbers have the same type. `in` and `has` compare like `=`.
    """
    return _matches(filter, user, tags, orjson.loads(user.data))


def _matches(filter: Filter, user: UserRecord, tags: Sequence[str], data: Any) -> bool:
    if isinstance(filter, Group):
        if filter.word == "not":
            return not _matches(filter.parts[0], user, tags, data)
        combine = all if filter.word == "and" else any
        return combine(_matches(part, user, tags, data) for part in filter.parts)
    value = _field(filter.field, user, tags, data)
    if filter.operator == "=":
        return _equal(value, filter.value)
    if filter.operator == "!=":
        return not _equal(value, filter.value)
    if filter.operator == "in":
        return any(_equal(value, choice) for choice in filter.value)
    if filter.operator == "has":
        return isinstance(value, list | tuple) and any(_equal(member, filter.value) for member in value)
    if not _comparable(value, filter.value):
        return False
    return _ORDER[filter.operator](value, filter.value)


def _field(name: str, user: UserRecord, tags: Sequence[str], data: Any) -> Any:
    if name == "tags":
        return tags
    if not name.startswith("data."):
        return user.zone if name == "tz" else getattr(user, name)
    value = data
    for key in name.split(".")[1:]:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _comparable(left: Any, right: Any) -> bool:
    return (_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str))
