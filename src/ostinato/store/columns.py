"""List the columns of the store's own tables, in the order that statements and rows use.

In a statement, `{run_columns}` means the columns of the table of runs. `{u.run_columns}` means the same
columns of the alias `u`. `{rows r(run_columns)}` means a batch of whole rows. The columns have the order of the
fields of the row's class, so `Run(*row)` reads a row.

A table may have more columns than are listed here. A node reads and writes only the columns that it knows. So nodes of
two versions can share one store during an upgrade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

T = TypeVar("T")
Reader: TypeAlias = Callable[[Sequence[Any]], T]


class TableColumns(NamedTuple):
    """The name of a table, its columns, and their types. Statements with a batch of rows (`{rows …}`) need the
    types."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]

    def without(self, *names: str) -> TableColumns:
        kept = [pair for pair in zip(self.columns, self.types, strict=True) if pair[0] not in names]
        return TableColumns(self.name, tuple(column for column, _ in kept), tuple(kind for _, kind in kept))


def table(name: str, columns: str) -> TableColumns:
    """Return a table whose columns are written as `"id priority:int"`. A column without a type is text."""
    pairs = [column.partition(":") for column in columns.split()]
    return TableColumns(name, tuple(column for column, _, _ in pairs), tuple(kind or "text" for _, _, kind in pairs))


def getter(columns: Sequence[str], *names: str) -> Callable[[Sequence[Any]], Any]:
    """Return a function that takes a row with these `columns`, and returns the values of the columns `names`. For one
    name, the function returns the value itself. For several names, it returns a tuple."""
    return itemgetter(*map(columns.index, names))


def reader(make: Callable[..., T], columns: Iterable[str], /, **read: Callable[[Any], Any]) -> Reader[T]:
    """Compile a function that takes a row of `columns` and returns `make(*row)`, as fast as code written by hand. A
    keyword argument converts a column: `due=f` replaces the value of the column `due` by `f(value)`."""
    names = list(columns)
    values = (f"_{name}({name})" if name in read else name for name in names)
    text = f"def made(_row):\n    {', '.join(names)} = _row\n    return _make({', '.join(values)})"
    compiled: Reader[T] = _compile(text, _make=make, **{f"_{name}": function for name, function in read.items()})
    return compiled


def writer(attributes: Iterable[str], /, **write: Callable[[Any], Any]) -> Callable[[Any], tuple[Any, ...]]:
    """Compile a function that takes an object and returns the row of its `attributes`, such as `id` or `status.value`.
    A keyword argument converts an attribute: `due=f` replaces the value of `due` by `f(value)`."""
    named = {name: f"_{name.replace('.', '_')}" for name in write}
    values = (f"{named[name]}(_value.{name})" if name in write else f"_value.{name}" for name in attributes)
    text = f"def made(_value):\n    return ({', '.join(values)},)"
    compiled: Callable[[Any], tuple[Any, ...]] = _compile(text, **{named[name]: one for name, one in write.items()})
    return compiled


def _compile(text: str, **names: Any) -> Any:
    exec(text, names)
    return names["made"]


_RUN = table(
    "ostinato_runs",
    """id name kind namespace key queue priority:int due:int created:int root_id number:int parent_id claim:int
    serial_key serial_hold concurrency_key options input checkpoint crashes:int actor schedule_id detail
    status reason ready_at:int started:int finished:int retry_of node hold result error progress
    cancel_requested:int superseded:int""",
)
_EVENT = table("ostinato_events", "seq:int at:int namespace name subject data actor")

# Statements use the key in `{…_columns}`: the key "run" is for `{run_columns}`.
TABLES = {
    "meta": table("ostinato_meta", "key value"),
    "node": table("ostinato_nodes", "id name started:int lease_until:int queues handlers version zone_rules kinds"),
    "run": _RUN,
    "claimed_run": _RUN.without(
        *("status", "reason", "ready_at", "started", "finished", "retry_of", "node", "hold", "result", "error"),
        *("progress", "cancel_requested", "superseded"),
    ),
    "new_run": _RUN.without(
        "started", "finished", "node", "claim", "result", "error", "progress", "cancel_requested", "superseded"
    ),
    "log": table("ostinato_logs", "run_id line:int at:int level message"),
    "serial": table("ostinato_serials", "namespace key holder"),
    "limit": table("ostinato_limits", "namespace key most:int rate:int per:int weight:int used:int arrival:int"),
    "timer": table("ostinato_timers", "kind owner purpose due:int namespace data"),
    "event": _EVENT,
    "new_event": _EVENT.without("seq"),
    "cursor": table("ostinato_cursors", "name seq:int until:int"),
    "schedule": table(
        "ostinato_schedules",
        """id name spec policies action namespace state reason paused:int notes remaining:int reached:int next:int
        updated:int token:int memory outcome memo tags attributes origin created:int closed:int zone_rules actor
        seed companion""",
    ),
    "schedule_label": table("ostinato_schedule_labels", "namespace label name"),
    "backfill": table(
        "ostinato_backfills",
        """id namespace schedule_id first:int last:int reached:int overlap input rate:real state total:int made:int
        created:int finished:int reason actor""",
    ),
    "request": table("ostinato_requests", "namespace id at:int call"),
    "job": table("ostinato_jobs", "name declared"),
    "namespace": table("ostinato_namespaces", "name notes created:int actor"),
    "token": table(
        "ostinato_tokens", "id namespace role label bound created:int expires:int used:int revoked:int actor"
    ),
}
RUN_COLUMNS = TABLES["run"].columns
CLAIMED_RUN_COLUMNS = TABLES["claimed_run"].columns
NEW_RUN_COLUMNS = TABLES["new_run"].columns
SCHEDULE_COLUMNS = TABLES["schedule"].columns
BACKFILL_COLUMNS = TABLES["backfill"].columns
TOKEN_COLUMNS = TABLES["token"].columns
