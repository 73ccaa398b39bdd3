"""List the names of events. docs/reference/events.md describes them; a test compares that file with this module."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from ostinato.errors import OstinatoError, did_you_mean, short_repr

_VERBS = {
    "run": (
        "created started succeeded failed timed_out cancelled terminated retrying crashed cancel_requested handed_back "
        "parked waiting resumed"
    ),
    "schedule": (
        "created updated paused resumed triggered skipped missed late run_started run_completed run_failed canceled "
        "completed deleted parked backfill_started backfill_progressed backfill_completed backfill_paused "
        "backfill_resumed backfill_cancelled run_canceled_hitl campaign_resolved recipient_run_started "
        "recipient_run_completed recipient_run_failed tool_scope_denied"
    ),
    "token": "created revoked",
    "namespace": "created deleted",
    "search_attribute": "added removed",
    "engine": "invariant_broken",
}


class EventNames:
    """The names of all events of an app, in the form `subject:verb`. `of_ways` has the events of extensions (`Way`), as
    a dict from subject to verbs, such as `{"order": "created deleted"}`."""

    def __init__(self, of_ways: Mapping[str, str]) -> None:
        taken = _VERBS.keys() & of_ways.keys()
        if taken:
            raise OstinatoError(f"a way cannot have events of {', '.join(sorted(taken))}, which are Ostinato's own")
        self._verbs = {**_VERBS, **of_ways}
        self.all = tuple(f"{subject}:{verb}" for subject, verbs in self._verbs.items() for verb in verbs.split())

    def refuse_unknown(self, pattern: str) -> None:
        """Raise `OstinatoError` if `pattern` matches no event name. A listener with such a pattern would never be
        called."""
        if not any(fnmatchcase(name, pattern) for name in self.all):
            subjects = ", ".join(f"{subject}:*" for subject in self._verbs)
            hint = did_you_mean(pattern, self.all) or f"patterns are {subjects}, or one name such as run:failed"
            raise OstinatoError(f"pattern {short_repr(pattern)} matches no event; {hint}")
