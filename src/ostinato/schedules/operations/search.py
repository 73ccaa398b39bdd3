"""Search schedules by name, job, tag and state, each through an index. Jobs and tags are indexed as labels, which are
written when a schedule is created or edited, never when it fires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from ostinato.errors import OstinatoError, did_you_mean
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.rows import name_of, read_action_text, read_tags
from ostinato.store.contract import Operation, Row, Statement, sql
from ostinato.store.intersect import RowSource, intersect_keys

_LABEL = 100  # characters: longer labels do not fit into the index with a name; `Filter.fits` compares the rest
_LAST = "\U0010ffff"


def label(kind: str, text: str) -> str:
    return f"{kind}:{text}"[:_LABEL]


def labels(schedule: Schedule) -> set[str]:
    if schedule.closed is not None:
        return set()
    return _labels(schedule.action.job, schedule.tags)


def _labels(job: str, tags: Sequence[str]) -> set[str]:
    texts = {label("job", job), *(label("tag", tag) for tag in tags)}
    return {one for one in texts if "\x00" not in one}


def missing_labels(after: str, limit: int) -> Operation[tuple[list[Row], str | None]]:
    """Return (missing label rows, cursor) for up to `limit` schedules with ids after `after`. Labels are missing if a
    node of an earlier version wrote the schedule. The cursor is the `after` of the next call, or None at the end."""
    rows = yield sql("schedules_to_label", after=after, limit=limit)
    wanted = [row for each in rows for row in _label_rows(*each[1:])]
    existing = {tuple(row) for row in (yield sql("existing_labels", wanted))} if wanted else set()
    return [row for row in wanted if row not in existing], rows[-1][0] if len(rows) == limit else None


def label_all(after: str, limit: int) -> Operation[tuple[int, str | None]]:
    """Add the labels that `missing_labels` finds. Return how many were added, and the cursor for the next call."""
    missing, following = yield from missing_labels(after, limit)
    if missing:
        yield sql("label_schedules", missing)
    return len(missing), following


def _label_rows(namespace: str, name: str, action: str, tags: str | None) -> list[Row]:
    try:
        texts = _labels(read_action_text(action).job, read_tags(tags))
    except Exception:  # a schedule that cannot be read has no labels; searches by name find it
        return []
    return [(namespace, one, name) for one in sorted(texts)]


def relabel(before: Schedule | None, after: Schedule) -> tuple[list[Row], list[Row]]:
    """Return the label rows to delete and the label rows to add after an edit."""
    old, new = (set() if before is None else labels(before)), labels(after)
    gone, added = old - new, new - old
    return [(after.namespace, one, after.name) for one in gone], [(after.namespace, one, after.name) for one in added]


@dataclass(frozen=True, slots=True)
class Filter:
    """The conditions of a search for schedules. `match` is a pattern for the name, such as `"billing-*"`. If `tag`,
    `state` or `job` is None, schedules with any tag, state or job match."""

    match: str = "*"
    tag: str | None = None
    state: str | None = None
    job: str | None = None

    def check(self) -> None:
        if self.state is not None and self.state not in set(State):
            hint = did_you_mean(self.state, [one.value for one in State]) or f"there are {', '.join(State)}"
            raise OstinatoError(f"state {self.state!r} is unknown; {hint}")

    @property
    def prefix(self) -> str:
        return self.match.split("*")[0].split("?")[0].split("[")[0]

    @property
    def whole(self) -> bool:
        """Whether the pattern `match` is only a prefix, such as `billing-*`. If so, the store applies the pattern, and
        all names that it returns match. Otherwise the caller must compare the names with the pattern."""
        return self.match == f"{self.prefix}*"

    def fits(self, schedule: Schedule) -> bool:
        tagged = self.tag is None or self.tag in schedule.tags
        return (
            tagged and (self.job is None or schedule.action.job == self.job) and fnmatchcase(schedule.name, self.match)
        )


def page(namespace: str, wanted: Filter, after: str, limit: int) -> Operation[tuple[list[Row], str | None]]:
    """Return (rows, cursor) with up to `limit` schedules after the name `after`, sorted by name. Some rows may not
    match `wanted`, so the caller must check each row. The cursor is the `after` of the next page, or None at the
    end."""
    if any(text is not None and "\x00" in text for text in (wanted.match, wanted.tag, wanted.job, after)):
        return [], None  # no schedule has such a text
    low, high = max(wanted.prefix, after), wanted.prefix + _LAST
    sources: list[RowSource] = []
    for kind, text in (("tag", wanted.tag), ("job", wanted.job)):
        if text is not None:
            sources.append(partial(_labelled, namespace, label(kind, text), high))
    if wanted.state is not None:
        sources.append(partial(_in_state, namespace, wanted.state, high))
    if sources:
        names = yield from intersect_keys(sources, low, after, limit)
        rows = (yield sql("schedules_by_name", [(namespace, name) for name in names])) if names else []
        rows = sorted(rows, key=name_of)
    else:
        rows = yield sql("list_schedules", namespace=namespace, after=after, low=low, high=high, limit=limit)
        names = [name_of(row) for row in rows]
    return list(rows), names[-1] if len(names) == limit else None


def _labelled(namespace: str, wanted: str, high: str, start: str, skip: str, limit: int) -> Statement:
    bounds = {"start": start, "skip": skip, "high": high, "limit": limit}
    return sql("labelled_schedules", namespace=namespace, label=wanted, **bounds)


def _in_state(namespace: str, wanted: str, high: str, start: str, skip: str, limit: int) -> Statement:
    bounds = {"start": start, "skip": skip, "high": high, "limit": limit}
    return sql("schedules_in_state", namespace=namespace, shown_state=wanted, **bounds)
