"""Named SQL from files, in one text for both stores where that is possible.

A file holds statements, each under a comment that names it:

    -- claim_ready [postgres]: what it is for.

A statement without a dialect in brackets serves both. `:name` is a parameter. `{rows r(id text, claim int)}`
stands for a batch of rows with the alias `r`: a VALUES list on SQLite, `unnest` on PostgreSQL. A column that is
never NULL and often the same for all rows is marked so, `{rows r(id text, status text same)}`: PostgreSQL gets one
value for all of them. (SQLite gets one value of whatever is the same for all rows; no plan depends on it there.)

A statement marked `[sqlite each]` is run once for each row of the batch, with the row's values as parameters; one
marked `[sqlite counted]` answers with how many rows it has written. What several statements have in common is marked
`[part]`, and stands in them as `{its_name}`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import Any, Literal, TypeAlias

Dialect: TypeAlias = Literal["sqlite", "postgres"]
Style: TypeAlias = Literal["qmark", "dollar", "pyformat"]
_HEADER = re.compile(r"^-- (?P<name>[a-z_]+)(?: \[(?P<tags>[a-z ]+)\])?: ", re.MULTILINE)
_PART = re.compile(r"\{(?P<name>[a-z_]+)\}")
_ROWS = re.compile(r"\{rows (?P<alias>\w+)\((?P<columns>[^)]*)\)\}")
_PARAMETER = re.compile(r"(?<![:\w]):(?P<name>[a-z_]+)")
_MANY = 8  # rows from which on it is worth while to look for what is the same in all of them
_TYPES = {"text": "text", "int": "bigint", "real": "double precision"}


@dataclass(frozen=True, slots=True)
class Query:
    """One statement of one dialect. `columns` are those of its `{rows …}`."""

    name: str
    text: str
    columns: tuple[tuple[str, str, bool], ...]  # name, type, whether one value may stand for all
    each: bool
    counted: bool = False

    def render(self, style: Style, params: Mapping[str, Any], rows: Sequence[Sequence[Any]] | None) -> tuple[str, Any]:
        """The text and the parameters for one driver call."""
        if style == "qmark":
            batch: Iterable[Sequence[Any]] = rows or ()
            same: tuple[int, ...] = ()
            columns: list[tuple[Any, ...]] = []
            if rows is not None and len(rows) >= _MANY and len(self.columns) > 1:
                columns = list(zip(*rows, strict=True))
                same = tuple(n for n, column in enumerate(columns) if n and column.count(column[0]) == len(column))
                if same:
                    batch = zip(*(column for n, column in enumerate(columns) if n not in same), strict=True)
            text, order = _qmark(self, len(rows) if rows is not None else 0, same)
            values: list[Any] = []
            for name in order:
                if name == "":
                    values.extend(chain.from_iterable(batch))
                elif isinstance(name, int):
                    values.append(columns[name][0])
                else:
                    values.append(params[name])
            return text, values
        text, names = _numbered(self, style)
        arrays = self._arrays(rows or ())
        if style == "dollar":
            return text, [arrays[n] if isinstance(n, int) else params[n] for n in names]
        return text, {
            f"p{n}" if isinstance(n, int) else n: arrays[n] if isinstance(n, int) else params[n] for n in names
        }

    def _arrays(self, rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
        """A batch as one array for each column, as short as `unnest` allows: it fills up with NULL, so a column of
        NULLs is an empty one. For drivers every element is work."""
        if not rows:
            return [[] for _ in self.columns]
        arrays: list[list[Any]] = []
        for values, (_, _, same) in zip(zip(*rows, strict=True), self.columns, strict=True):
            first = values[0]
            if (first is None or same) and values.count(first) == len(values):
                arrays.append([] if first is None else [first])
            else:
                arrays.append(list(values))
        return arrays


@lru_cache(maxsize=8192)
def _qmark(query: Query, count: int, same: tuple[int, ...]) -> tuple[str, tuple[str | int, ...]]:
    """SQLite's form for a batch of `count` rows, and the order of its parameters: '' is the batch without the columns
    in `same`, each of which is one parameter, by its number. (Binding one takes as long as storing it.)"""
    order: list[str | int] = []

    def rows(match: re.Match[str]) -> str:
        order.extend((*same, ""))
        one = "(" + ",".join("?" * (len(query.columns) - len(same))) + ")"
        place = iter(range(1, len(query.columns) + 1))
        named = ", ".join(
            f"? AS {name}" if n in same else f"column{next(place)} AS {name}"
            for n, (name, _, _) in enumerate(query.columns)
        )
        return f"(SELECT {named} FROM (VALUES {','.join([one] * count)})) AS {match['alias']}"

    def either(match: re.Match[str]) -> str:
        if match.group(0).startswith("{"):
            return rows(_ROWS.fullmatch(match.group(0)) or match)
        order.append(match.group(0)[1:])
        return "?"

    both = re.compile(f"{_ROWS.pattern.replace('?P<alias>', '').replace('?P<columns>', '')}|(?<![:\\w]):[a-z_]+")
    return both.sub(either, query.text), tuple(order)


@lru_cache(maxsize=4096)
def _numbered(query: Query, style: Style) -> tuple[str, tuple[str | int, ...]]:
    """PostgreSQL's form; a number in the order is a column of the batch."""
    names: list[str | int] = list(range(len(query.columns))) if _ROWS.search(query.text) else []

    def place(name: str | int) -> str:
        if name not in names:
            names.append(name)
        if style == "dollar":
            return f"${names.index(name) + 1}"
        return f"%(p{name})s" if isinstance(name, int) else f"%({name})s"

    def rows(match: re.Match[str]) -> str:
        arrays = [f"{place(n)}::{_TYPES[kind]}[]" for n, (_, kind, _) in enumerate(query.columns)]
        named = ", ".join(name for name, _, _ in query.columns)
        batch = f"unnest({', '.join(arrays)}) AS {match['alias']}({named})"
        if not any(same for _, _, same in query.columns):
            return batch
        chosen = ", ".join(
            f"coalesce({name}, ({array})[1]) AS {name}" if same else name
            for (name, _, same), array in zip(query.columns, arrays, strict=True)
        )
        return f"(SELECT {chosen} FROM {batch}) AS {match['alias']}"

    text = query.text if style == "dollar" else query.text.replace("%", "%%")
    text = _ROWS.sub(rows, text)
    text = _PARAMETER.sub(lambda match: place(match["name"]), text)
    return text, tuple(names)


@lru_cache(maxsize=2)
def queries(dialect: Dialect) -> dict[str, Query]:
    """Every statement of a dialect, by name."""
    bodies: dict[str, tuple[str, list[str]]] = {}
    for file in sorted(resources.files("ostinato.store").joinpath("sql").iterdir(), key=lambda f: f.name):
        if not file.name.endswith(".sql"):
            continue
        text = file.read_text(encoding="utf-8")
        headers = list(_HEADER.finditer(text))
        for header, following in zip(headers, [*headers[1:], None], strict=True):
            tags = (header["tags"] or "").split()
            if tags and dialect not in tags:
                continue
            body = text[header.start() : following.start() if following else len(text)]
            bodies[header["name"]] = body, tags
    parts = {name: _bare(body) for name, (body, tags) in bodies.items() if "part" in tags}
    return {name: _query(name, body, tags, parts) for name, (body, tags) in bodies.items() if name not in parts}


def _bare(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("--")).strip().rstrip(";")


def _whole(text: str, parts: Mapping[str, str]) -> str:
    return _PART.sub(lambda match: _whole(parts[match["name"]], parts), text)


def _query(name: str, body: str, tags: Sequence[str], parts: Mapping[str, str]) -> Query:
    text = _whole(_bare(body), parts)
    match = _ROWS.search(text)
    columns: tuple[tuple[str, str, bool], ...] = ()
    if match:
        words = [column.split() for column in match["columns"].split(",")]
        columns = tuple((column, kind, bool(same)) for column, kind, *same in words)
    if "each" in tags:
        listed = re.search(r"\[sqlite each\]: \((?P<columns>[^)]*)\)", body)
        assert listed, f"{name}: name its columns first"
        columns = tuple((column.strip(), "text", False) for column in listed["columns"].split(","))
    return Query(name, text, columns, "each" in tags, "counted" in tags)
