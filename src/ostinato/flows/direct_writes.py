"""Write the results of direct turns, which are turns that this node handles without recorded steps. One transaction
writes the results of many turns.

This module must write the same rows and events as `turns.py` and `responses.py` write for one turn with recorded steps.
The test tests/scenario/flows/test_direct_turns.py compares them.

Every transaction checks that this node still holds the runs of the sessions. So a node that was lost writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import orjson

from ostinato.engine.claims import NewRun
from ostinato.engine.kinds import Kinds
from ostinato.engine.rows import event_row
from ostinato.engine.runs import End, created_event, end
from ostinato.flows.campaigns.model import KEY, STOPPED
from ostinato.flows.campaigns.store import campaign_statement
from ostinato.flows.model import MAIL, OPTED_OUT, FlowOutcome, SessionRecord, TurnRecord, UserRecord
from ostinato.flows.responses import (
    CAMPAIGN_STOPPED,
    TAKEN,
    Candidate,
    Sent,
    new_outgoing,
    prepared_event,
    settled,
    state_of,
)
from ostinato.flows.store import (
    message_row,
    outgoing_row,
    read_session,
    read_user,
    session_row,
    statement,
    turn_row,
    write_events,
)
from ostinato.flows.turns import Spent, TransactionContext, completed, mail_to, read_tags
from ostinato.functions.operations import Wanted, Write, WriteResult, write
from ostinato.functions.store import message_row as mail_row
from ostinato.functions.store import statement as function_statement
from ostinato.model import Run, Status
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """The first turn of a new session. This node has claimed the session's run."""

    run: Run
    session: SessionRecord
    turn: TurnRecord
    user: UserRecord
    tags: Sequence[str] = ()


@dataclass(slots=True)
class DirectRoom:
    """Permission for this node to begin turns directly, each in a new session.

    - `token`: the claim token with which the node claims the runs of the new sessions
    - `room`: how many turns may begin
    - `begun`: the turns that the method `begin` has begun
    """

    node: str
    token: int
    room: int
    begun: list[BegunTurn] = field(default_factory=list)

    def is_known(self) -> Operation[bool]:
        """Return whether this node still has its row in the table of nodes. Lock this row until the commit.

        While the row is locked, no other node can declare this node dead.
        """
        return bool((yield statement("hold_node", node=self.node)))

    def begin(self, place: TransactionContext, turns: Sequence[BegunTurn]) -> Operation[list[Row]]:
        """Begin turns that this node handles directly, which means without recorded steps. Return event rows. The
        caller must insert these rows.

        - Insert the new session of each turn.
        - Insert the run of each session. This node holds the claim on the run.
        - Put each turn into the mailbox of its session's run. The run handles the turn if this node is lost.
        - Set the status of each turn record to `running`. The caller must insert the turn records.
        """
        new, events, mails = [], [], []
        tags = yield from read_tags([begun.user.id for begun in turns])
        for begun in turns:
            run, turn = begun.run, begun.turn
            run.status, run.node, run.claim, run.started = Status.ACTIVE, self.node, 1, place.now
            turn.status, turn.started = "running", place.now
            new.append(
                NewRun(
                    run.id,
                    run.namespace,
                    run.kind,
                    run.name,
                    run.key or "",
                    run.queue,
                    run.priority,
                    run.due,
                    run.options,
                    run.input,
                    run.actor,
                    None,  # type: ignore[arg-type]
                    None,  # type: ignore[arg-type]
                )
            )
            mails.append(mail_row(direct_mail(place, run.id, turn.id)))
            events += [created_event(run, place.now), event_row(place.now, run, "run:started", node=self.node)]
        yield statement("insert_sessions", [session_row(begun.session) for begun in turns])
        yield sql("insert_taken", new, now=place.now, node=self.node, token=self.token)
        yield function_statement("insert_messages", mails)
        self.begun += [replace(begun, tags=tags[begun.user.id]) for begun in turns]
        return events


def direct_mail(place: TransactionContext, run_id: str, turn_id: str, **notes: Any) -> Any:
    """Return the message that brings a direct turn to the run of its session. `notes` are facts that the run needs. The
    run reads this message only if this node does not finish the turn."""
    return replace(mail_to(place, run_id, turn_id), payload=_payload(turn_id, notes))


def _payload(turn_id: str, notes: Mapping[str, Any]) -> str:
    return orjson.dumps({"turn": turn_id, "direct": True, **notes}).decode()


@dataclass(frozen=True, slots=True)
class Intent:
    """A message that is about to be sent."""

    begun: BegunTurn
    number: int
    candidate: Candidate
    policy: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Settle:
    """The result of sending one message."""

    sent: Sent
    candidate: Candidate
    policy: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Finish:
    """The write that ends a turn.

    - `settles`: the results of sending messages, written in the same transaction
    - `idle`: how long the session's run waits for the next turn before the session becomes idle
    - `ending`: why the session ends after this turn, or None. If it is None, the session's run waits for the next turn.
      Otherwise the run ends the session.
    """

    begun: BegunTurn
    settles: Sequence[Settle]
    outcome: FlowOutcome
    reason: str | None
    spent: Spent
    idle: Micros
    ending: str | None = None


@dataclass(frozen=True, slots=True)
class Settles:
    """Results of sending messages, to be written before the turn ends."""

    begun: BegunTurn
    settles: Sequence[Settle]


@dataclass(frozen=True, slots=True)
class Leave:
    """The write by which this node hands a turn over to the run of the turn's session, because the node cannot handle
    the turn directly.

    - `settles`: the results of the messages that this node has sent for the turn
    - `notes`: facts that the run needs to continue the turn
    """

    begun: BegunTurn
    settles: Sequence[Settle]
    notes: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Other:
    """A write of a turn for which `Intent`, `Settles`, `Finish` and `Leave` do not fit. `make` returns the operation
    that does the write."""

    begun: BegunTurn
    make: Callable[[TransactionContext], Operation[Any]]


Item: TypeAlias = Intent | Settles | Finish | Leave | Other
REFUSED = object()  # the answer for a turn whose run this node no longer holds


def write_turns(items: Sequence[Item], place: TransactionContext, node: str, kinds: Kinds) -> Operation[list[Any]]:
    """Write `items`. Each turn may have at most one item. Return a list with one answer for each item, in the same
    order:

    - `REFUSED`: nothing was written, because this node no longer holds the turn's run, or the user no longer exists
    - for an `Intent`: a dict that says whether the message may be sent (see `_write_intents`)
    - for `Settles`: the state of the session, for the hook `on_response`
    - for a `Finish` or a `Leave`: `READY` if the session's run is ready to continue, otherwise the state of the session
    - for an `Other`: the result of its operation
    """
    rows = yield statement("lock_agent_user_ids", [(item.begun.user.id,) for item in items])
    users = {user.id: user for user in map(read_user, rows)}
    runs = [(item.begun.run.id, item.begun.run.claim) for item in items]
    held = {id for id, _ in (yield function_statement("hold_functions", runs, node=node))}
    held = {item.begun.run.id for item in items if item.begun.run.id in held and item.begun.user.id in users}
    todo = [item for item in items if item.begun.run.id in held]
    if not todo:
        return [REFUSED for _ in items]
    rows = yield statement("sessions_by_ids", [(item.begun.session.id,) for item in todo])
    sessions = {session.id: session for session in map(read_session, rows)}
    answers: dict[str, Any] = {}
    events: list[Row] = []
    yield from _write_intents([i for i in todo if isinstance(i, Intent)], place, users, sessions, answers, events)
    settling = [item for item in todo if isinstance(item, Settles | Finish | Leave)]
    yield from _write_settles(settling, place, sessions, answers, events)
    finishing = [item for item in todo if isinstance(item, Finish)]
    for finish in finishing:
        session = sessions[finish.begun.session.id]
        events.append(completed(place, finish.begun.turn, session, finish.outcome, finish.reason, finish.spent))
    if finishing:
        yield statement("update_turns", [turn_row(item.begun.turn) for item in finishing])
    if settling:
        changed = {item.begun.session.id for item in settling}
        yield statement("update_sessions", [session_row(sessions[id]) for id in changed])
    if events:
        yield from write_events(*events)
    for item in todo:
        if isinstance(item, Other):
            answers[item.begun.run.id] = yield from item.make(place)
    yield from _let_runs_go([item for item in todo if isinstance(item, Finish | Leave)], place, node, kinds, answers)
    return [answers.get(item.begun.run.id) if item.begun.run.id in held else REFUSED for item in items]


def _write_intents(
    intents: Sequence[Intent],
    place: TransactionContext,
    users: Mapping[str, UserRecord],
    sessions: Mapping[str, SessionRecord],
    answers: dict[str, Any],
    events: list[Row],
) -> Operation[None]:
    """Store messages before they are sent, and add the event rows to `events`.

    For each message, set `answers[run_id]` to a dict. `run_id` is the id of the run of the message's session.

    - If the message may be sent, the dict has its `key`, its `address` and the external id of its `user`.
    - If the message must not be sent, it is not stored. The dict has only `suppressed`, the reason.
    """
    if not intents:
        return
    ids = {intent.begun.turn.key.removeprefix(KEY) for intent in intents}
    stopped = {
        id for id, status in (yield campaign_statement("campaign_statuses", [(id,) for id in ids])) if status in STOPPED
    }
    rows: list[Row] = []
    prepared: dict[str, Row] = {}
    for intent in intents:
        turn, candidate = intent.begun.turn, intent.candidate
        user, session = users[intent.begun.user.id], sessions[intent.begun.session.id]
        key = f"{turn.id}_{intent.number}"
        reason = None
        if session.takeover is not None and not candidate.forced:
            reason = TAKEN
        elif user.consent == OPTED_OUT:
            reason = OPTED_OUT
        elif turn.key.removeprefix(KEY) in stopped:
            reason = CAMPAIGN_STOPPED
        if reason is not None:
            answers[intent.begun.run.id] = {"suppressed": reason}
            continue
        outgoing = new_outgoing(place, key, turn, session, user, candidate)
        rows.append(outgoing_row(outgoing))
        prepared[key] = prepared_event(place, key, turn, session, candidate, intent.policy)
        answers[intent.begun.run.id] = {"key": key, "address": outgoing.address, "user": user.external_id}
    if rows:
        written = yield statement("insert_outgoing", rows)
        events += [prepared[key] for (key,) in written]


def _write_settles(
    items: Sequence[Settles | Finish | Leave],
    place: TransactionContext,
    sessions: Mapping[str, SessionRecord],
    answers: dict[str, Any],
    events: list[Row],
) -> Operation[None]:
    """Write the results of sending messages. Messages that may have been delivered become part of the conversation.

    Add event rows to `events`, and change the records in `sessions`. The caller must write both. For each item, set
    `answers[run_id]` to the state of the session. `run_id` is the id of the session's run.
    """
    settles = [(item.begun, settle) for item in items for settle in item.settles]
    for item in items:
        answers[item.begun.run.id] = state_of(sessions[item.begun.session.id])
    if not settles:
        return
    rows = [(s.sent.key, s.sent.delivery.value, s.sent.provider_id, s.sent.error) for _, s in settles]
    pending = {key for (key,) in (yield statement("settle_outgoing", rows, now=place.now))}
    messages: list[Row] = []
    for begun, settle in settles:
        if settle.sent.key not in pending:
            continue
        session, candidate = sessions[begun.session.id], settle.candidate
        outgoing = new_outgoing(place, settle.sent.key, begun.turn, session, begun.user, candidate)
        said, more = settled(place, settle.sent, begun.turn, session, outgoing, candidate.producer, settle.policy)
        events += more
        if said is not None:
            messages.append(message_row(said))
    if messages:
        yield statement("insert_said", messages)


def _let_runs_go(
    items: Sequence[Finish | Leave], place: TransactionContext, node: str, kinds: Kinds, answers: dict[str, Any]
) -> Operation[None]:
    """Release the runs that this node has claimed for direct turns.

    - A run becomes ready if its turn is not over, if it has other mail, or if it must end its session. Its answer in
      `answers` becomes `READY`.
    - Any other run is parked. Its answer stays unchanged.
    """
    if not items:
        return
    parking: list[Write] = []
    ready: list[Run] = []
    kept: list[Row] = []
    dropped: list[Row] = []
    for item in items:
        run, turn = item.begun.run, item.begun.turn
        if isinstance(item, Finish) and item.ending is None:
            dropped.append((run.id, turn.id))
            parking.append(Write(run, parks=Wanted([MAIL], due=place.now + item.idle)))
            continue
        notes = {"ending": item.ending} if isinstance(item, Finish) else item.notes
        kept.append((run.id, turn.id, _payload(turn.id, notes)))
        ready.append(run)
    if kept:
        yield statement("note_mail", kept)
    if parking:
        yield statement("drop_mail", dropped)
        written = yield from write(parking, node, place.now, kinds)
        ready += [parked.run for parked, answer in zip(parking, written, strict=True) if answer is WriteResult.ARRIVED]
    if ready:
        ends = [End(run, Status.READY, finished=False, event="run:handed_back") for run in ready]
        yield from end(ends, node, place.now, kinds)
    for run in ready:
        answers[run.id] = READY


READY = object()  # the answer for a run that is ready to continue


def find_takeovers(session_ids: Sequence[str]) -> Operation[set[str]]:
    return {id for (id,) in (yield statement("taken_sessions", [(id,) for id in session_ids]))}
