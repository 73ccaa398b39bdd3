"""Connect durable functions to an app: provide `app.functions`, and execute claimed runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ostinato.engine.group_commit import Committer
from ostinato.engine.kinds import Body
from ostinato.engine.node import Engine
from ostinato.engine.runs import Started, start
from ostinato.engine.ways import Host, Loop, Part, Runtime
from ostinato.errors import OstinatoError
from ostinato.functions.action_kind import ACTION
from ostinato.functions.api import FunctionApiContext, Functions
from ostinato.functions.body import FunctionBody, Settings
from ostinato.functions.children import Children
from ostinato.functions.definition import FunctionCodes
from ostinato.functions.missing_code import check_codes
from ostinato.functions.model import KIND, MOST_STEPS
from ostinato.functions.operations import Sending, send
from ostinato.functions.stop_and_recover import RUN_KIND, TIMERS
from ostinato.functions.store import statement
from ostinato.model import Run, Timer
from ostinato.store.contract import Operation

CACHED = 1_000  # parked runs whose code stays in memory


class FunctionsPart(Part):
    api: Functions

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._context = FunctionApiContext(host, FunctionCodes())
        settings = host.settings
        self._bounds = Settings(
            read_count(settings.get("function_steps", MOST_STEPS), "function_steps"),
            read_count(settings.get("function_cache", CACHED), "function_cache"),
        )
        self.api = Functions(self._context, host.namespace, host.actor)

    def take_over(self, before: Part) -> None:
        assert isinstance(before, FunctionsPart)
        self._context.codes = before._context.codes

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        context = self._context
        context.body = FunctionBody(engine, context.codes, Children(self.host, context.codes), self._bounds)
        context.body.start()
        context.starts = Committer(self._commit_starts, lambda _: None, retry=False)
        context.sends = Committer(self._commit_sends, lambda _: None, retry=False)
        context.starts.start()
        context.sends.start()
        return {KIND: context.body}

    async def prepare(self) -> None:
        """Store which functions this node declares, so that other processes can start them without the code."""
        now = self.host.engine().clock.now()
        rows = [
            (code.name, code.version, code.digest, code.handler.declaration.write(), now)
            for code in self._context.codes
        ]

        def declare(_: int) -> Operation[None]:
            yield statement("declare_codes", rows)

        if rows:
            await self.host.store.run(declare)

    def loops(self) -> Mapping[str, Loop]:
        assert self._context.body is not None
        return {"functions": self._context.body.look_for_news}

    async def close(self) -> None:
        context = self._context
        for committer in (context.starts, context.sends):
            if committer is not None:
                await committer.stop()
        context.starts = context.sends = None
        if context.body is not None:
            await context.body.stop()
            context.body = None

    async def _commit_starts(self, starts: Sequence[tuple[Run, Timer | None]]) -> list[Started]:
        now = self.host.engine().clock.now()
        deadlines = [timer for _, timer in starts if timer is not None]
        return await self.host.store.run(lambda _: start([run for run, _ in starts], now, deadlines))

    async def _commit_sends(self, sendings: Sequence[Sending]) -> list[str]:
        engine = self.host.engine()
        answers = await self.host.store.run(lambda _: send(sendings, engine.clock.now()))
        engine.nudge()
        if self._context.body is not None:
            for sending in sendings:
                self._context.body.poke(sending.message.run_id)
        return answers


def read_count(value: object, place: str) -> int:
    """Return `value` as an int. Raises OstinatoError if it is not a whole number from 1 to 1,000,000. The error message
    begins with `place`, the name of the setting."""
    try:
        count = int(str(value))
    except ValueError:
        count = 0
    if not 1 <= count <= 1_000_000:
        raise OstinatoError(f"{place} {value!r} is not a whole number from 1 to 1,000,000")
    return count


RUNTIME = Runtime(part=FunctionsPart, kinds={KIND: RUN_KIND}, timers=TIMERS, actions=(ACTION,), checks=(check_codes,))
