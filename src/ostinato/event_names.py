"""The names of all events. The reference lists them with what they carry; a test holds the two together."""

from __future__ import annotations

from fnmatch import fnmatchcase

from ostinato.errors import OstinatoError, did_you_mean, shown

_VERBS = {
    "run": (
        "created started succeeded failed timed_out cancelled terminated retrying crashed cancel_requested handed_back "
        "parked waiting resumed"
    ),
    "schedule": (
        "created updated paused resumed triggered skipped missed late run_started run_completed run_failed canceled "
        "completed deleted parked backfill_started backfill_progressed backfill_completed backfill_paused "
        "backfill_resumed backfill_cancelled"
    ),
    "journey": "deployed started state_entered input_wanted input_received timer_set timer_fired completed",
    "webhook": "created updated disabled enabled replayed deleted",
    "token": "created revoked",
    "namespace": "created deleted",
    "search_attribute": "added removed",
}
NAMES = tuple(f"{subject}:{verb}" for subject, verbs in _VERBS.items() for verb in verbs.split())


def refuse_unknown(pattern: str) -> None:
    """Refuse a pattern that no event can fit: it would wait in silence."""
    if not any(fnmatchcase(name, pattern) for name in NAMES):
        subjects = ", ".join(f"{subject}:*" for subject in _VERBS)
        hint = did_you_mean(pattern, NAMES) or f"patterns are {subjects}, or one name such as run:failed"
        raise OstinatoError(f"pattern {shown(pattern)} fits no event; {hint}")
