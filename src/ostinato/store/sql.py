"""Load named SQL statements from files. Where possible, one text serves both stores.

In a file, each statement follows a comment with its name:

    -- claim_ready [postgres]: what it does.

The words in brackets are optional. Without them, the statement is for both stores.

- `[sqlite]` or `[postgres]`: the statement is only for this store.
- `[sqlite each]`: the statement is run once for each row of the batch, with the row's values as parameters.
- `[sqlite counted]`: the statement returns the number of rows written.
- `[sqlite postgres part]`: the text is a part that several statements share.

A statement can contain:

- `:name`: a parameter
- `{name_of_the_part}`: the text of a part
- `{rows r(id text, claim int)}`: a batch of rows with the alias `r`; a VALUES list on SQLite, `unnest` on PostgreSQL
- `{run_columns}`: all columns of the table of runs
- `{u.run_columns}`: the same columns, each with the prefix `u.`
- `{rows r(run_columns)}`: a batch of rows with the same columns

A column of a batch may be marked `same`, as in `{rows r(id text, status text same)}`. If all values of the column are
equal, PostgreSQL gets one value instead of one per row. Mark a column if it is never NULL and often has the same value
in all rows. On SQLite the mark has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from itertools import chain
from typing import Any, Literal, TypeAlias

from ostinato.store.columns import TABLES, TableColumns
from ostinato.store.contract import Row, Statement

Dialect: TypeAlias = Literal["sqlite", "postgres"]
Style: TypeAlias = Literal["qmark", "dollar", "pyformat"]
_HEADER = re.compile(r"^-- (?P<name>[a-z_][a-z0-9_]*)(?: \[(?P<tags>[a-z ]+)\])?: ", re.MULTILINE)
_PART = re.compile(r"\{(?:(?P<alias>[a-z]+)\.)?(?P<name>[a-z_]+)\}")
_ROWS = re.compile(r"\{rows (?P<alias>\w+)\((?P<columns>[^)]*)\)\}")
_PARAMETER = re.compile(r"(?<![:\w]):(?P<name>[a-z_]+)")
_MANY = 8  # with at least this many rows, it is worth looking for columns that have the same value in all rows
_TYPES = {"text": "text", "int": "bigint", "real": "double precision"}


@dataclass(frozen=True, slots=True)
class Query:
    """One SQL statement in one dialect.

    - `columns`: the columns of the statement's batch of rows
    - `each`: whether the statement runs once for each row of the batch
    - `counted`: whether the statement returns the number of rows written
    """

    name: str
    text: str
    columns: tuple[tuple[str, str, bool], ...]  # name, type, whether the column is marked `same`
    each: bool
    counted: bool = False

    def render(self, style: Style, params: Mapping[str, Any], rows: Sequence[Sequence[Any]] | None) -> tuple[str, Any]:
        """Return (text, parameters) for one call of a driver. The parameters are a dict for the style `pyformat`, and
        otherwise a list."""
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
        """Return a batch as one array per column, as short as possible. A column with only NULLs becomes an empty
        array, because `unnest` fills short arrays up with NULL. A column marked `same` becomes an array of one value if
        all its values are equal."""
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
    """Return (SQL for SQLite, entries) for a batch of `count` rows. `same` has the indexes of the batch columns that
    have the same value in all rows. Each of these values is passed only once. The entries say, in order, what to pass
    for the placeholders:

    - An int: pass the value of the column with this index. The column is one of `same`.
    - An empty str: pass the values of all other columns, row by row.
    - Any other str: pass the parameter with this name.
    """
    order: list[str | int] = []

    def rows(match: re.Match[str]) -> str:
        order.extend((*same, ""))
        row = "(" + ",".join("?" * (len(query.columns) - len(same))) + ")"
        place = iter(range(1, len(query.columns) + 1))
        named = ", ".join(
            f"? AS {name}" if n in same else f"column{next(place)} AS {name}"
            for n, (name, _, _) in enumerate(query.columns)
        )
        return f"(SELECT {named} FROM (VALUES {','.join([row] * count)})) AS {match['alias']}"

    def either(match: re.Match[str]) -> str:
        if match.group(0).startswith("{"):
            return rows(_ROWS.fullmatch(match.group(0)) or match)
        order.append(match.group(0)[1:])
        return "?"

    both = re.compile(f"{_ROWS.pattern.replace('?P<alias>', '').replace('?P<columns>', '')}|(?<![:\\w]):[a-z_]+")
    return both.sub(either, query.text), tuple(order)


@lru_cache(maxsize=4096)
def _numbered(query: Query, style: Style) -> tuple[str, tuple[str | int, ...]]:
    """Return (SQL for PostgreSQL, entries). Each entry says, in order, what to pass for one placeholder:

    - An int: pass all values of the batch column with this index.
    - A str: pass the parameter with this name.
    """
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
    """Return a dict from name to statement, with the statements of this package's files in one dialect."""
    folder = resources.files("ostinato.store").joinpath("sql")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return _read(dialect, [file.read_text(encoding="utf-8") for file in files])


def _read(dialect: Dialect, texts: Iterable[str], tables: Mapping[str, TableColumns] = TABLES) -> dict[str, Query]:
    bodies: dict[str, tuple[str, list[str]]] = {}
    for text in texts:
        headers = list(_HEADER.finditer(text))
        for header, following in zip(headers, [*headers[1:], None], strict=True):
            tags = (header["tags"] or "").split()
            if tags and dialect not in tags:
                continue
            body = text[header.start() : following.start() if following else len(text)]
            bodies[header["name"]] = body, tags
    parts = {name: _bare(body) for name, (body, tags) in bodies.items() if "part" in tags}
    return {name: _query(name, body, tags, parts, tables) for name, (body, tags) in bodies.items() if name not in parts}


class Statements:
    """The SQL statements of an extension (`Way`), in the format that the docstring of this module describes. Call the
    object with a name to get a statement that an operation can yield. `tables` are the tables of the extension by name.
    In a statement, `{topic_columns}`, for example, means the columns of `tables["topic"]`."""

    def __init__(self, text: str, tables: Mapping[str, TableColumns] | None = None) -> None:
        self._text = text
        self._tables = {**TABLES, **(tables or {})}
        self._queries: dict[Dialect, dict[str, Query]] = {}

    def __call__(self, name: str, rows: Sequence[Row] | None = None, /, **params: Any) -> Statement:
        return Statement(name, params, rows, False, self)

    def queries(self, dialect: Dialect) -> dict[str, Query]:
        if dialect not in self._queries:
            self._queries[dialect] = _read(dialect, [self._text], self._tables)
        return self._queries[dialect]


def query_of(statement: Statement, dialect: Dialect, own_queries: Mapping[str, Query]) -> Query:
    """Return the query of a statement, from its `source`, or from `own_queries` if there is no source."""
    if statement.source is None:
        return own_queries[statement.name]
    queries_of_source: dict[str, Query] = statement.source.queries(dialect)
    return queries_of_source[statement.name]


def _bare(body: str) -> str:
    return "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("--")).strip().rstrip(";")


def _whole(text: str, parts: Mapping[str, str], tables: Mapping[str, TableColumns]) -> str:
    def part(match: re.Match[str]) -> str:
        if match["name"] in parts:
            return _whole(parts[match["name"]], parts, tables)
        prefix = f"{match['alias']}." if match["alias"] else ""
        return ", ".join(f"{prefix}{column}" for column in _table(match["name"], tables).columns)

    return _PART.sub(part, text)


def _batch(column: str, tables: Mapping[str, TableColumns]) -> list[tuple[str, str, bool]]:
    """Parse one entry of a batch, and return a tuple (name, type, mark) for each of its columns. In SQL, a batch is
    written as `{rows r(id text, status text same)}`, with the entries in the parentheses. `column` is one entry, in one
    of these forms:

    - `id text`: one column with its name and its type; the mark is False
    - `status text same`: as before, but the mark is True. The mark means: if all rows have the same value in this
      column, PostgreSQL gets the value only once.
    - `run_columns`: all columns of the table `run`; each mark is False
    """
    name, *words = column.split()
    if words:
        return [(name, words[0], len(words) > 1)]
    table = _table(name, tables)
    return [(name, kind, False) for name, kind in zip(table.columns, table.types, strict=True)]


def _table(name: str, tables: Mapping[str, TableColumns]) -> TableColumns:
    assert name.endswith("_columns"), f"{name} is neither a part nor the columns of a table"
    return tables[name.removesuffix("_columns")]


def _query(
    name: str, body: str, tags: Sequence[str], parts: Mapping[str, str], tables: Mapping[str, TableColumns]
) -> Query:
    text = _whole(_bare(body), parts, tables)
    match = _ROWS.search(text)
    columns: tuple[tuple[str, str, bool], ...] = ()
    if match:
        columns = tuple(chain.from_iterable(_batch(column, tables) for column in match["columns"].split(",")))
    if "each" in tags:
        listed = re.search(r"\[sqlite each\]: \((?P<columns>[^)]*)\)", body)
        assert listed, f"{name}: name its columns first"
        columns = tuple((column.strip(), "text", False) for column in listed["columns"].split(","))
    return Query(name, text, columns, "each" in tags, "counted" in tags)
