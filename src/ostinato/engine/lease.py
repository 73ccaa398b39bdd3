"""Renew a node's lease, even while the node's event loop is blocked.

On a real clock, a thread with its own event loop and its own connection renews the lease. If the node's loop does not
respond for `PATIENCE`, the thread stops renewing the lease, and other nodes take over the runs. On a virtual clock
there are no threads, and the node's loop renews the lease.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ostinato.clock import SharedClock
from ostinato.engine import membership
from ostinato.engine.log import log
from ostinato.engine.timekeeping import Timekeeper
from ostinato.store.contract import Store
from ostinato.when.instants import SECOND, Micros

PATIENCE: Micros = 60 * SECOND


class LeaseKeeper:
    """Renews the lease of a node five times per lease. The event loop that creates this object is called the home loop.

    - `on_renewal`: called on the home loop after each successful renewal, with two arguments: the result of the
      renewal, and the monotonic time of this machine (`ticks`) at which the renewal began
    - `lost`: called on the home loop with the node's id, when other nodes have declared the node dead
    - `blocker`: returns the name of the code that blocks the home loop, or None if the name is unknown
    """

    def __init__(
        self,
        clock: SharedClock,
        lease: Micros,
        node: Callable[[], str],
        *,
        on_renewal: Callable[[membership.Pulse, Micros], None],
        lost: Callable[[str], Awaitable[None]],
        stopping: Callable[[], bool],
        blocker: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._clock = clock
        self._lease = lease
        self._node = node
        self._on_renewal = on_renewal
        self._lost = lost
        self._stopping = stopping
        self._blocker = blocker
        self._patience = max(PATIENCE, lease)
        self._home = asyncio.get_running_loop()
        self._alive_at = clock.local.ticks()  # when the home loop last responded
        self._hung = False

    async def renew(self, store: Store, time: Timekeeper) -> None:
        """Renew the lease again and again, until this task is cancelled. `store` and `time` must belong to the event
        loop that runs this coroutine.

        If the lease is lost, call `lost` and wait until that call has ended. Usually the node then has a new id, and
        this method renews the lease of the new id. But if the node is stopping, this method returns.
        """
        while True:
            self.call_home(self._mark_alive)
            if self._is_hung():
                await asyncio.sleep(self._lease / 5 / SECOND)
                continue
            await time.refresh()
            node, ticks = self._node(), self._clock.local.ticks()
            pulse = await store.run(lambda _, node=node: membership.heartbeat(node, self._clock.now, self._lease))  # type: ignore[misc]
            if not pulse.alive:
                await self._report_loss(node)
                if self._stopping():
                    return
                continue
            self.call_home(lambda pulse=pulse, ticks=ticks: self._on_renewal(pulse, ticks))  # type: ignore[misc]
            if self._clock.now() - pulse.at < self._lease // 5:  # else the renewal took so long that the next is due
                await asyncio.sleep(self._lease / 5 / SECOND)

    def call_home(self, action: Callable[[], None]) -> None:
        """Call `action` on the home loop, which is the event loop that created this object. If the caller runs on
        another loop, `action` is called soon, and this method does not wait. If the home loop is closed, the node no
        longer exists, and this method raises `CancelledError`."""
        if self._home.is_closed():
            raise asyncio.CancelledError
        if self._home is asyncio.get_running_loop():
            action()
        else:
            self._home.call_soon_threadsafe(action)

    async def _report_loss(self, node: str) -> None:
        if self._home is asyncio.get_running_loop():
            await self._lost(node)
        else:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_as_coroutine(self._lost, node), self._home))

    def _mark_alive(self) -> None:
        self._alive_at = self._clock.local.ticks()

    def _is_hung(self) -> bool:
        """Return whether the home loop has not responded for too long. Logs an error the first time."""
        silence = self._clock.local.ticks() - self._alive_at
        hung = silence > self._patience
        if hung and not self._hung:
            blocker = self._blocker()
            log.error(
                f"the event loop has been blocked for {silence // SECOND} s{f' by {blocker}' if blocker else ''}: the"
                " lease is not renewed any more, so that other nodes take over",
                action="lease_let_go",
                node=self._node(),
            )
        self._hung = hung
        return hung


async def _as_coroutine(action: Callable[[str], Awaitable[None]], node: str) -> None:
    await action(node)


async def run_on_own_loop(work: Callable[[], Awaitable[None]], name: str) -> None:
    """Run `work` on a new event loop in a new thread, and wait until it ends. If the caller is cancelled, `work` is
    cancelled, too. An exception of `work` is raised to the caller."""
    home = asyncio.get_running_loop()
    ended: asyncio.Future[BaseException | None] = home.create_future()
    begun: asyncio.Future[tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None]] = home.create_future()

    async def main() -> None:
        home.call_soon_threadsafe(begun.set_result, (asyncio.get_running_loop(), asyncio.current_task()))
        await work()

    def run() -> None:
        problem: BaseException | None = None
        try:
            asyncio.run(main())
        except BaseException as raised:
            problem = raised
        with suppress(RuntimeError):  # the home loop is closed, so nothing awaits `ended`
            home.call_soon_threadsafe(ended.set_result, problem)

    threading.Thread(target=run, name=name, daemon=True).start()
    try:
        problem = await asyncio.shield(ended)
    except asyncio.CancelledError:
        loop, task = await begun
        assert task is not None
        with suppress(RuntimeError):  # it has ended meanwhile
            loop.call_soon_threadsafe(task.cancel)
        await ended
        raise
    if problem is not None:
        raise problem
