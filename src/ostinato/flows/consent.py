"""Change a user's consent when a message such as STOP or START arrives.

A user who has opted out gets no turns of campaigns or schedules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ostinato.engine.rows import audit
from ostinato.flows.campaigns.agent_settings import START_WORDS, STOP_WORDS
from ostinato.flows.model import CHANGE, TurnInput
from ostinato.flows.store import statement, user_row, write_events
from ostinato.flows.turns import Accepted, Profile, TransactionContext, accept_turn, lock_known_user, lock_user
from ostinato.store.contract import Operation

REPLIES = {
    "opted_out": "You will get no more of these messages. Write START to get them again.",
    "opted_in": "You will get our messages again. Write STOP to end them.",
}
_SETTINGS = {"opted_out": "stop_reply", "opted_in": "start_reply"}
_AROUND = " \t\r\n.!\"'"


def reply_for(change: str, settings: Mapping[str, Any]) -> str:
    return str(settings.get(_SETTINGS[change]) or REPLIES[change])


def wanted_consent(text: str | None, settings: Mapping[str, Any], consent: str) -> str | None:
    """Return the consent that a message asks for: opted_out or opted_in. Return None if it asks for neither.

    `consent` is the user's present consent. A word such as START counts only if `consent` is opted_out.
    """
    word = " ".join((text or "").strip(_AROUND).casefold().split())
    if not word:
        return None
    if word in {stop.casefold() for stop in settings.get("stop_words", STOP_WORDS)}:
        return "opted_out"
    starts = {start.casefold() for start in settings.get("start_words", START_WORDS)}
    return "opted_in" if consent == "opted_out" and word in starts else None


def accept_message(
    place: TransactionContext, turn_input: TurnInput, profile: Profile | None, settings: Mapping[str, Any]
) -> Operation[Accepted]:
    """Accept an input as a turn. If the input is a message that opts out or in, change the user's consent in the same
    transaction. The consent changes even during a takeover, and even if the turn fails later."""
    if turn_input.source != "inbound":
        return (yield from accept_turn(place, turn_input, profile))
    metadata = {name: value for name, value in turn_input.metadata.items() if name != CHANGE}
    if wanted_consent(turn_input.text, settings, "opted_out") is None:
        return (yield from accept_turn(place, replace(turn_input, metadata=metadata), profile))
    user = yield from lock_user(place, turn_input.user)
    before = "unknown" if user is None else user.consent
    change = wanted_consent(turn_input.text, settings, before)
    if change is None:
        return (yield from accept_turn(place, replace(turn_input, metadata=metadata), profile))
    metadata[CHANGE] = {"to": change, "new": change != before}
    accepted = yield from accept_turn(place, replace(turn_input, metadata=metadata), profile)
    if not accepted.new or change == before:
        return accepted
    user = yield from lock_known_user(place, turn_input.user)
    user.consent, user.consent_at, user.updated = change, place.now, place.now
    yield statement("update_agent_users", [user_row(user)])
    event = audit(
        place.now, place.namespace, f"flow:{change}", accepted.turn_id, place.actor, agent=place.agent, user_id=user.id
    )
    yield from write_events(event)
    return accepted
