"""Which work a node takes: what it claims from its queues, and what it begins at once of what it fires itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence

from ostinato.clock import Clock
from ostinato.engine.bodies import Bodies
from ostinato.engine.claims import Hands, claim
from ostinato.engine.listeners import wait_for_event
from ostinato.engine.telemetry import Metrics
from ostinato.model import Run
from ostinato.store.contract import Store

_CLAIM = 100  # runs in one claim: fewer cost more each
_BACKLOG = 5_000  # outcomes waiting for the store before no more work is taken


class Claimer:
    """`handlers` are what this node can run; `poll`, in seconds, how often it looks though nobody told it to; `told` is
    called when something was claimed."""

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
        told: Callable[[], None],
    ) -> None:
        self.ready = asyncio.Event()  # there may be something to claim
        self.leave: frozenset[str] = frozenset()  # names that only others know
        self._store = store
        self._clock = clock
        self._bodies = bodies
        self._node = node
        self._handlers = handlers
        self._queues = tuple(queues)
        self._concurrency = concurrency
        self._poll = poll
        self._metrics = metrics
        self._told = told
        self._stopping = False
        self._token = 0
        self._under_way: set[int] = set()  # tokens of what is being taken
        self._promised = 0  # places that are kept for it
        self._hungry = True  # the last look found nothing to claim

    def stop(self) -> None:
        """Take no more. A claim or a firing that is on its way is heard out, and what it has taken is handed back."""
        self._stopping = True
        self.ready.set()
        self._bodies.room.set()

    async def run(self) -> None:
        turn = 0
        # Half of what there is room for: while those bodies run, the store looks for the other half.
        most = max(_CLAIM, self._concurrency // 2)
        while not self._stopping:
            self.ready.clear()
            room = self._room()
            if room <= 0:
                self._bodies.room.clear()
                await self._bodies.room.wait()  # a body has ended, or outcomes were written
                continue
            got = 0
            for step in range(len(self._queues)):
                limit = min(self._room(), most)
                if limit <= 0 or self._stopping:
                    break
                got += await self._claim(self._queues[(turn + step) % len(self._queues)], limit)
            turn += 1
            self._hungry = got == 0
            if got == 0 and not self._stopping:
                await wait_for_event(self.ready, self._poll)

    async def _claim(self, queue: str, limit: int) -> int:
        now, node, leave = self._clock.now(), self._node(), self.leave
        token = self._reach_out(limit)
        try:
            with self._bodies.spans.of("claim", queue=queue):
                runs = await self._store.run(lambda tries: claim(node, token, queue, limit, now, leave, tries))
            self.take(runs)
        finally:
            self._let_go(token, limit)
        if runs:
            self._told()
        return len(runs)

    def hands(self, most: int) -> Hands:
        """For who fires: what may be taken at once of what comes due. Nothing while others stand in line, or may do so,
        and no more than half of the room, so that who fires for long keeps nobody waiting. To be given back."""
        room = min(most, (self._room() + 1) // 2) if self._hungry and not self.ready.is_set() else 0
        return Hands(self._node(), self._reach_out(room), room, self._queues, self._handlers)

    def give_back(self, hands: Hands, taken: Sequence[Run]) -> None:
        self.take(taken)
        self._let_go(hands.token, hands.room)

    def take(self, runs: Sequence[Run]) -> None:
        """What this node has claimed begins. A node that stops meanwhile hands it back at once."""
        if self._stopping:
            self._bodies.hand_back(runs)
        elif runs:
            self._metrics.claimed.inc(len(runs))
            for run in runs:
                self._bodies.begin(run)

    def _reach_out(self, room: int) -> int:
        """A token for something that is being taken, and places for it."""
        self._token += 1
        self._under_way.add(self._token)
        self._promised += room
        return self._token

    def _let_go(self, token: int, room: int) -> None:
        self._under_way.discard(token)
        self._promised -= room
        if room:
            self._bodies.room.set()

    def _room(self) -> int:
        if self._stopping or len(self._bodies.ends) > _BACKLOG:
            return 0
        return max(0, self._concurrency - len(self._bodies.running) - self._promised)

    def unheard(self, run_id: str, run_claim: int, token: int) -> bool:
        """A claim that was committed though its answer was lost. One that is under way is not that."""
        return not self._stopping and self._bodies.begun.get(run_id) != run_claim and token not in self._under_way
