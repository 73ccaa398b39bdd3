"""Claim runs from the node's queues and begin them, while the node has free slots."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ostinato.clock import Clock
from ostinato.engine.active_runs import Bodies
from ostinato.engine.claims import DirectClaim, claim
from ostinato.engine.kinds import Body
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.telemetry import Metrics
from ostinato.model import Run
from ostinato.store.contract import Store

_CLAIM = 100  # runs in one claim: in a smaller claim each run costs more time
_BACKLOG = 5_000  # if more outcomes than this wait for the store, no more runs are claimed


@dataclass(slots=True)
class Share:
    """The slots of this node that are set aside for one extension (`Way`). The extension itself begins runs in these
    slots, and the claim loop does not use them.

    - `most`: how many slots can be set aside
    - `slots`: how many slots are set aside now
    - `held`: how many runs of the extension are running in these slots now
    """

    most: int
    slots: int = 0
    held: int = 0


class Claimer:
    """Claims runs while the node has free slots. If a claim gets no runs, the claimer pauses. The pause ends when the
    event `ready` is set, which means that runs may be ready.

    - `handlers`: the jobs that this node can run
    - `poll`: the length of the longest pause, in seconds; None means that a pause has no limit
    - `on_claim`: called after each claim that got runs
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        bodies: Bodies,
        node: Callable[[], str],
        *,
        handlers: Mapping[str, object],
        queues: Collection[str],
        concurrency: int,
        poll: float | None,
        metrics: Metrics,
        on_claim: Callable[[], None],
    ) -> None:
        self.ready = asyncio.Event()  # runs may be ready
        self.leave: frozenset[str] = frozenset()  # jobs that only other nodes know
        self._store = store
        self._clock = clock
        self._bodies = bodies
        self._node = node
        self._handlers = handlers
        self._queues = tuple(queues)
        self._concurrency = concurrency
        self._poll = poll
        self._metrics = metrics
        self._on_claim = on_claim
        self._stopping = False
        self._token = 0
        self._under_way: set[int] = set()  # tokens of claims that are not committed yet
        self._reserved = 0  # slots reserved for these claims
        self._idle = True  # the last look found nothing to claim
        self.share = Share(concurrency // 2)

    def stop(self) -> None:
        """Stop claiming. A claim that is in progress is finished, and its runs are handed back."""
        self._stopping = True
        self.ready.set()
        self._bodies.room.set()

    async def run(self) -> None:
        turn = 0
        # Claim half the slots at a time: while these runs are executed, the store looks for the other half.
        most = max(_CLAIM, self._concurrency // 2)
        while not self._stopping:
            self.ready.clear()
            room = self._room()
            if room <= 0:
                self._bodies.room.clear()
                await self._bodies.room.wait()  # until a run ends or outcomes are written
                continue
            got = 0
            for step in range(len(self._queues)):
                limit = min(self._room(), most)
                if limit <= 0 or self._stopping:
                    break
                got += await self._claim(self._queues[(turn + step) % len(self._queues)], limit)
            turn += 1
            self._idle = got == 0
            if got == 0 and not self._stopping:
                await wait_for_event(self.ready, self._poll)

    async def _claim(self, queue: str, limit: int) -> int:
        now, node, leave, kinds = self._clock.now(), self._node(), self.leave, self._bodies.kinds.names
        token = self._open_claim(limit)
        try:
            with self._bodies.spans.of("claim", queue=queue):
                runs = await self._store.run(lambda tries: claim(node, token, queue, limit, now, kinds, leave, tries))
            self.take(runs)
        finally:
            self._close_claim(token, limit)
        if runs:
            self._on_claim()
        return len(runs)

    def reserve(self, most: int) -> DirectClaim:
        """Reserve up to `most` slots for runs that due timers start directly on this node. Returns the reservation.
        Pass it to `give_back` afterwards.

        - If ready runs may be waiting in the queues, no slot is reserved, because these runs come first.
        - Otherwise, at most half of the free slots, rounded up, are reserved. The other half is left to the claim loop.
        """
        room = min(most, (self._room() + 1) // 2) if self._idle and not self.ready.is_set() else 0
        return DirectClaim(self._node(), self._open_claim(room), room, self._queues, self._handlers)

    def serves(self, queue: str) -> bool:
        return queue in self._queues

    def reserve_share(self) -> DirectClaim:
        """Reserve slots for runs that an extension (`Way`) begins itself, even if runs are waiting in the queues.
        Returns the reservation. Pass it to `give_back` afterwards.

        `share.slots` is the number of slots that are set aside for the extension. One call reserves at most half of
        this number, rounded up. It reserves fewer slots if fewer are free.
        """
        left = min(self._free(), self.share.slots - self.share.held)
        room = max(0, min(left, (self.share.slots + 1) // 2))
        return DirectClaim(self._node(), self._open_claim(room), room, self._queues, self._handlers)

    @property
    def share_is_free(self) -> bool:
        """Whether `reserve_share` could reserve at least one slot now. `share` counts the slots that are set aside for
        an extension (`Way`)."""
        return self.share.slots > self.share.held and self._free() > 0

    def give_back(self, direct: DirectClaim, claimed: Sequence[Run], body: Body | None = None) -> None:
        """End a reservation: release the slots of `direct`, and begin the runs in `claimed`. `direct` is the result of
        `reserve` or `reserve_share`, and `claimed` are the runs that were claimed with `direct`.

        `body` executes the runs. If `body` is None, each run is executed in the usual way for its kind. If the node is
        stopping, no run begins, and the runs are handed back to the store.
        """
        self.take(claimed, body)
        self._close_claim(direct.token, direct.room)

    def take(self, runs: Sequence[Run], body: Body | None = None) -> None:
        """Begin claimed runs. If the node is stopping, hand the runs back instead."""
        if self._stopping:
            self._bodies.hand_back(runs)
        elif runs:
            self._metrics.claimed.inc(len(runs))
            for run in runs:
                self._bodies.begin(run, body)

    def _open_claim(self, room: int) -> int:
        """Reserve `room` slots for a new claim. Returns the token of the claim, a number that no other claim of this
        object has."""
        self._token += 1
        self._under_way.add(self._token)
        self._reserved += room
        return self._token

    def _close_claim(self, token: int, room: int) -> None:
        self._under_way.discard(token)
        self._reserved -= room
        if room:
            self._bodies.room.set()

    def _room(self) -> int:
        """Return how many runs may be claimed from the queues now: the number of free slots, without the slots that are
        set aside for an extension (`share`)."""
        return max(0, self._free() - max(0, self.share.slots - self.share.held))

    def _free(self) -> int:
        if self._stopping or len(self._bodies.ends) > _BACKLOG:
            return 0
        return max(0, self._concurrency - len(self._bodies.running) - self._reserved)

    def unheard(self, run_id: str, run_claim: int, token: int) -> bool:
        """Return whether the caller must begin a run that the store lists as claimed by this node. This is necessary if
        the reply to the commit of the claim was lost: the node has claimed the run, but has not begun it.

        - `run_claim`: how many times the run has been claimed, as stored
        - `token`: the stored number of the transaction in which this node claimed the run

        If that transaction is still in progress, or if the node is stopping, return False.
        """
        return not self._stopping and self._bodies.begun.get(run_id) != run_claim and token not in self._under_way
