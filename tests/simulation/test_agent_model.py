"""Random lives of conversations on nodes that crash. Whatever happens in which order, a session has one turn at a time,
nothing is said while a person has the conversation, every input ends once, and nothing is said twice."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ostinato import Ostinato
from ostinato.errors import Conflict, NotFound
from ostinato.flows import BeforeLLMInput, FlowContext, ModelReply, OutgoingMessage, TurnInput
from ostinato.flows.store import read_outgoing, read_session, read_turn, statement
from ostinato.store.contract import Operation
from ostinato.store.sqlite import SqliteStore
from ostinato.testing import VirtualClock, World, run_virtual
from tests.support.agents import Outbox
from tests.support.conversation import check_form, declare_form, play_form
from tests.support.examples import examples
from tests.support.faults import HesitantStore, SharedStore

USERS = ("ada", "bob")
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.0, 0.3, 1.0, 5.0, 30.0, 150.0]),
        st.sampled_from(
            ["inbound"] * 5
            + ["scheduled"] * 3
            + ["takeover", "hand_back", "speak", "resolve", "cancel", "crash", "stop"]
        ),
        st.integers(0, 99),
    ),
    min_size=1,
    max_size=25,
)
TEXTS = ("hi", "form", "yes", "no", "help", "nap")


class Slow(Outbox):
    """A chat service that takes a moment, and knows who had the conversation when it got a message."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.silenced: list[OutgoingMessage] = []
        self.taken: set[str] = set()  # users whose takeover was committed before, and not given back

    async def send(self, message: OutgoingMessage, egress: Any) -> str | None:
        if message.user in self.taken and not message.text.startswith("person:"):
            self.silenced.append(message)
        self.sent.append(message)
        await asyncio.sleep(0.1)
        return None


class Life:
    """An agent and what happens to it."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.outbox = Slow(world)
        self.going: Counter[str] = Counter()  # turns that hooks are working on, by session
        self.accepted: dict[str, str] = {}  # turns that were acknowledged
        self.count = 0
        agent = world.app.agent(
            "buddy", tz="UTC", model=self, transport=self.outbox, admins=["boss"], idle="2m", end_after="4m"
        )

        @agent.before_llm
        async def alone(hook_input: BeforeLLMInput) -> None:
            session = hook_input.turn.session_id
            self.going[session] += 1
            assert self.going[session] == 1, "two turns of one session at once"
            try:
                await asyncio.sleep(0.2)
            finally:
                self.going[session] -= 1

        @agent.flow
        async def form(ctx: FlowContext) -> None:
            if await ctx.confirm("sure?", timeout="2m", default=False):
                decision = await ctx.escalate("admit?", timeout="3m", meanwhile="queue")
                await ctx.say(f"admitted: {decision.approved}")

        @agent.flow
        async def help(ctx: FlowContext) -> None:
            await ctx.escalate("take over", mode="live_takeover", timeout="2m")
            await ctx.say("back")

        @agent.flow
        async def nap(ctx: FlowContext) -> None:
            await ctx.sleep("1m")
            await ctx.say("awake")

        @agent.flow
        async def remind(ctx: FlowContext) -> None:
            await ctx.say("drink")

        @agent.router
        async def route(hook_input: BeforeLLMInput) -> str | None:
            text = hook_input.turn.text
            return text if text in ("form", "help", "nap") else None

    async def complete(self, request: Any, egress: Any) -> ModelReply:
        await asyncio.sleep(0.3)
        return ModelReply("ok")

    @property
    def boss(self) -> Any:
        return self.world.app.within("default", "boss").agents

    async def live(self, actions: list[tuple[float, str, int]]) -> None:
        await self.world.up()
        for seconds, what, number in actions:
            if seconds:
                await asyncio.sleep(seconds)
            with suppress(NotFound, Conflict):  # there is no session, or it is decided
                await self.happen(what, USERS[number % 2], number // 2)
        await self.finish()

    async def happen(self, what: str, user: str, number: int) -> None:
        agents = self.world.app.agents
        self.count += 1
        match what:
            case "inbound":
                text = TEXTS[number % len(TEXTS)]
                turn = await agents.receive("buddy", user, text, id=f"m{self.count}")
                again = await agents.receive("buddy", user, text, id=f"m{self.count}")
                assert (turn.id, again.new) == (again.id, False)
                self.accepted[turn.id] = what
            case "scheduled":
                policy: Any = ("skip", "defer", "replace")[number % 3]
                turn_input = TurnInput(
                    user=user,
                    source="scheduled",
                    key=f"s{self.count}",
                    flow=("remind", "form")[number % 2],
                    bootstrap=True,
                    on_active_flow=policy,
                )
                turn = await agents.run_turn("buddy", turn_input)
                if turn.id:
                    self.accepted[turn.id] = what
            case "takeover":
                await self.boss.take_over("buddy", user)
                await self.drain(user)
            case "hand_back":
                self.outbox.taken.discard(user)
                await self.boss.hand_back("buddy", user)
            case "speak":
                turn = await self.boss.say_as_person("buddy", user, f"person: {self.count}", id=f"p{self.count}")
                self.accepted[turn.id] = what
            case "resolve":
                for escalation in await self.boss.escalations("buddy"):
                    self.outbox.taken.clear()  # it may be what kept a conversation
                    await self.boss.resolve("buddy", escalation.id, number % 2 == 0)
            case "cancel":
                (session, *_) = await agents.sessions("buddy", user=user)
                self.outbox.taken.discard(user)
                await agents.end_session(session.id)
            case "crash":
                await self.world.crash()
                self.going.clear()
                await asyncio.sleep(number % 3)
                await self.world.up()
            case "stop":
                await self.world.down()
                self.going.clear()
                await self.world.up()

    async def drain(self, user: str) -> None:
        """Let the transport finish what it had in its hands; from now on the agent is silent for this user."""
        await asyncio.sleep(0)
        rows = await self.world.app.store.read(lambda _: _sessions())
        if any(session.takeover == "boss" for session in (read_session(row[:-1]) for row in rows)):
            await asyncio.sleep(0.2)
            session = (await self.world.app.agents.sessions("buddy", user=user))[0]
            if session.takeover == "boss":
                self.outbox.taken.add(user)

    async def finish(self) -> None:
        """Give everything back, let all waits end, and check what must hold."""
        self.outbox.taken.clear()
        for user in USERS:
            try:
                await self.boss.hand_back("buddy", user)
            except (NotFound, Conflict):
                continue
        await self.world.advance("25m")
        turns, outgoing, sessions = await self.world.app.store.read(lambda _: _everything())
        assert self.outbox.silenced == [], "the agent spoke while a person had the conversation"
        by_id = {turn.id: turn for turn in map(read_turn, turns)}
        assert set(self.accepted) <= set(by_id), "an input that was acknowledged is lost"
        assert [turn for turn in by_id.values() if turn.outcome is None] == [], "a turn has no end"
        sent = Counter(message.key for message in self.outbox.sent)
        stored = {message.key: message for message in map(read_outgoing, outgoing)}
        assert set(sent) <= set(stored), "what is sent was committed before"
        assert set(sent.values()) <= {1}, "a message was sent twice"
        for key, message in stored.items():
            assert message.status != "pending" or by_id[message.turn_id].reason in ("session_lost", "session_canceled")
            assert message.status != "sent" or sent[key] == 1, "a message is lost"
        for turn in by_id.values():
            assert turn.outcome != "canceled_hitl" or turn.source == "scheduled"
            assert turn.delivered <= sum(sent[key] for key in stored if key.startswith(turn.id))
        for session in map(read_session, sessions):
            assert session.ended is not None, session
        events = Counter((event.name, event.subject) for event in await self.world.app.events(limit=100_000))
        for turn in by_id.values():
            ends = sum(
                events[f"flow:turn_{verb}", turn.id] for verb in ("succeeded", "skipped", "failed", "canceled_hitl")
            )
            assert ends == 1, f"turn {turn.id} has {ends} ends"
        assert await self.world.app.check(repair=False) == []


def _sessions() -> Operation[list[Any]]:
    rows: list[Any] = []
    for user in (yield statement("agent_users", namespace="default", agent="buddy", after="", limit=10)):
        rows += yield statement("open_session", user=user[0])
    return rows


def _everything() -> Operation[tuple[list[Any], list[Any], list[Any]]]:
    turns: list[Any] = []
    outgoing: list[Any] = []
    for user in (yield statement("agent_users", namespace="default", agent="buddy", after="", limit=10)):
        turns += yield statement("turns_of_user", user=user[0])
        outgoing += yield statement("outgoing_of_user", user=user[0])
    sessions = yield statement("list_sessions", namespace="default", agent="buddy", user="", before="~", limit=1000)
    return turns, outgoing, sessions


def play(actions: list[Any], seed: int, cache: int) -> None:
    clock = VirtualClock()
    with tempfile.TemporaryDirectory() as folder:
        inner = SqliteStore(f"{folder}/store.db", inline=True, durable=False)
        store = HesitantStore(inner, random.Random(seed)) if seed % 2 else inner

        async def main() -> None:
            world = World(store, clock=clock, lease=10.0, grace=1.0, function_cache=cache)
            try:
                await Life(world).live(actions)
            finally:
                await world.close()

        run_virtual(main(), clock)


@examples(16)
@given(actions=ACTIONS, seed=st.integers(0, 999), cache=st.sampled_from([1, 100]))
def test_random_lives_keep_one_turn_at_a_time_and_the_rule_of_people(actions: Any, seed: int, cache: int) -> None:
    play(actions, seed, cache)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@examples(int(os.environ.get("OSTINATO_LIVES", "2000")), chance=True)
@given(actions=ACTIONS, seed=st.integers(0, 999), cache=st.sampled_from([1, 100]))
def test_many_random_lives_keep_the_rules(actions: Any, seed: int, cache: int) -> None:
    play(actions, seed, cache)


class Busy(Outbox):
    """A chat service that takes a second."""

    async def send(self, message: OutgoingMessage, egress: Any) -> str | None:
        await asyncio.sleep(0.5)
        await super().send(message, egress)
        await asyncio.sleep(0.5)
        return None


async def two_nodes(folder: str, clock: VirtualClock, seed: int) -> None:
    """Conversations on two nodes, of which one is killed every few seconds and begins again."""
    dice = random.Random(seed)
    inner = SqliteStore(f"{folder}/store.db", inline=True, durable=False)
    await inner.open()
    outbox = Busy(idempotent=seed % 2 == 0)

    def make() -> Ostinato:
        app = Ostinato(SharedStore(inner), clock=clock, lease=3.0, function_cache=1 + seed % 3 * 50)
        declare_form(app, outbox)
        return app

    apps = [make(), make()]
    for app in apps:
        await app.__aenter__()
    client = make()
    await client._open(node=False)
    talking = [asyncio.create_task(play_form(client, f"user-{number}")) for number in range(4)]
    kills = 0
    while not all(task.done() for task in talking):
        await asyncio.sleep(dice.uniform(0.3, 3))
        if kills < 12:
            kills += 1
            number = dice.randrange(2)
            await apps[number].engine.kill()
            await apps[number]._close_after_crash()
            await asyncio.sleep(dice.uniform(0, 3))
            apps[number] = make()
            await apps[number].__aenter__()
    await asyncio.gather(*talking)
    for number in range(4):
        await check_form(apps[0], outbox, f"user-{number}")
    await client._close()
    for app in apps:
        await app.__aexit__()
    await inner.close()
    assert kills > 1


@pytest.mark.parametrize("seed", range(6))
def test_two_nodes_that_are_killed_lose_nothing_and_repeat_nothing(tmp_path: Any, seed: int) -> None:
    clock = VirtualClock()
    run_virtual(two_nodes(str(tmp_path), clock, seed), clock)
