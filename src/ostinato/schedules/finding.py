"""Which schedules fit: by name, job, tag and state, through the indexes of those. What a schedule is found by is
written when it is made or edited, never when it fires."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial

from ostinato.errors import OstinatoError, did_you_mean
from ostinato.schedules.model import Schedule, State
from ostinato.schedules.rows import read_action_text, read_tags
from ostinato.store.contract import Operation, Row, Statement, sql
from ostinato.store.crossing import Source, crossing

_LABEL = 100  # characters: an index has room for so much beside a name; the rest is compared when it is read
_LAST = "\U0010ffff"
_NAME = 2  # its place in a row


def label(kind: str, text: str) -> str:
    return f"{kind}:{text}"[:_LABEL]


def labels(schedule: Schedule) -> set[str]:
    if schedule.closed is not None:
        return set()
    return _labels(schedule.action.job, schedule.tags)


def _labels(job: str, tags: Sequence[str]) -> set[str]:
    found = {label("job", job), *(label("tag", tag) for tag in tags)}
    return {one for one in found if "\x00" not in one}


def unlabelled(after: str, limit: int) -> Operation[tuple[list[Row], str | None]]:
    """Labels that are missing, of the next so many schedules by id, and where to go on: None at the end. A node of an
    earlier version, which knows no labels, may have made or changed them."""
    rows = yield sql("schedules_to_label", after=after, limit=limit)
    wanted = [row for each in rows for row in _label_rows(*each[1:])]
    there = {tuple(row) for row in (yield sql("labels_there", wanted))} if wanted else set()
    return [row for row in wanted if row not in there], rows[-1][0] if len(rows) == limit else None


def label_all(after: str, limit: int) -> Operation[tuple[int, str | None]]:
    """Add the labels that are missing. Returns how many, and where to go on."""
    missing, following = yield from unlabelled(after, limit)
    if missing:
        yield sql("label_schedules", missing)
    return len(missing), following


def _label_rows(namespace: str, name: str, action: str, tags: str | None) -> list[Row]:
    try:
        found = _labels(read_action_text(action).job, read_tags(tags))
    except Exception:  # one that cannot be read is found by its name
        return []
    return [(namespace, one, name) for one in sorted(found)]


def relabel(before: Schedule | None, after: Schedule) -> tuple[list[Row], list[Row]]:
    """What a schedule is found by no longer, and what it is found by from now on."""
    old, new = (set() if before is None else labels(before)), labels(after)
    gone, come = old - new, new - old
    return [(after.namespace, one, after.name) for one in gone], [(after.namespace, one, after.name) for one in come]


@dataclass(frozen=True, slots=True)
class Filter:
    """`match` is a pattern of names such as `"billing-*"`; what is None is not asked for."""

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
        """Whether everything that the store finds by it fits."""
        return self.match == f"{self.prefix}*"

    def fits(self, one: Schedule) -> bool:
        tagged = self.tag is None or self.tag in one.tags
        return tagged and (self.job is None or one.action.job == self.job) and fnmatchcase(one.name, self.match)


def page(namespace: str, wanted: Filter, after: str, limit: int) -> Operation[tuple[list[Row], str | None]]:
    """The next so many rows by name that the store finds, and where the page after it begins. Not all of them need fit.
    They are not read here: that takes time, which is not the store's."""
    if any(text is not None and "\x00" in text for text in (wanted.match, wanted.tag, wanted.job, after)):
        return [], None  # nothing has it
    low, high = max(wanted.prefix, after), wanted.prefix + _LAST
    sources: list[Source] = []
    for kind, text in (("tag", wanted.tag), ("job", wanted.job)):
        if text is not None:
            sources.append(partial(_labelled, namespace, label(kind, text), high))
    if wanted.state is not None:
        sources.append(partial(_standing, namespace, wanted.state, high))
    if sources:
        names = yield from crossing(sources, low, after, limit)
        rows = (yield sql("schedules_by_name", [(namespace, name) for name in names])) if names else []
        rows = sorted(rows, key=lambda row: row[_NAME])
    else:
        rows = yield sql("list_schedules", namespace=namespace, after=after, low=low, high=high, limit=limit)
        names = [row[_NAME] for row in rows]
    return list(rows), names[-1] if len(names) == limit else None


def _labelled(namespace: str, wanted: str, high: str, start: str, skip: str, limit: int) -> Statement:
    given = {"start": start, "skip": skip, "high": high, "limit": limit}
    return sql("labelled_schedules", namespace=namespace, label=wanted, **given)


def _standing(namespace: str, wanted: str, high: str, start: str, skip: str, limit: int) -> Statement:
    given = {"start": start, "skip": skip, "high": high, "limit": limit}
    return sql("schedules_standing", namespace=namespace, standing=wanted, **given)
