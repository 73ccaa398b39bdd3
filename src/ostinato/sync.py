"""Wrap the app for code that does not await, such as scripts and plain web views. Each call blocks until it is done."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, Unpack, cast, overload

from ostinato.app import Ostinato, RunHandle
from ostinato.blocking import Blocking, BlockingCalls, Calls, LoopThread
from ostinato.errors import missing_attribute
from ostinato.flows.api import Agents, TurnHandle
from ostinato.flows.campaigns.api import CampaignHandle, Campaigns
from ostinato.flows.campaigns.views import CampaignInfo
from ostinato.flows.model import TurnInput, TurnOutcome
from ostinato.flows.transports import InboundMessage
from ostinato.functions.api import FunctionHandle, Functions, FunctionStart
from ostinato.functions.views import FunctionInfo
from ostinato.journeys.api.changes import Journeys
from ostinato.run_views import RunInfo
from ostinato.schedules.api.changes import Schedules
from ostinato.start_checks import StartCall, StartManyCall
from ostinato.store.caller_transaction import run_in_caller_transaction_sync
from ostinato.webhooks.api import Webhooks
from ostinato.when.durations import Length
from ostinato.workflows.api import Workflows

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
H = TypeVar("H", bound=RunHandle[Any] | FunctionHandle[Any] | TurnHandle | CampaignHandle)
Input: TypeAlias = Mapping[str, Any]


class _SyncHandle(Generic[H]):
    def __init__(self, app: SyncOstinato, handle: H) -> None:
        self._app = app
        self._handle = handle
        self.id: str = handle.id
        self.new: bool = handle.new


class SyncRun(_SyncHandle[RunHandle[T_co]], Generic[T_co]):
    """A run that was started, for code that does not await. `new` is false if a run with the same id existed before."""

    def result(self, timeout: Length | None = None) -> T_co:
        """Wait for the run's result, and return it. Raises the same errors as `RunHandle.result`."""
        return self._app.call(self._handle.result(timeout))

    def cancel(self, reason: str = "") -> str:
        """Cancel the run, and return its status afterwards."""
        return self._app.call(self._handle.cancel(reason))

    def info(self) -> RunInfo:
        return self._app.call(self._handle.info())


class PlainMethod(Generic[P, T]):
    """Forwards a plain method unchanged, because it needs no event loop."""

    def __init__(self, method: Callable[Concatenate[Any, P], T]) -> None:
        self._method = method

    def __get__(self, calls: Calls, owner: type[Calls]) -> Callable[P, T]:
        return cast(Callable[P, T], partial(self._method, calls._calls))


class SyncCalls(Calls):
    """The base class for the blocking form of a part of the app, such as `app.schedules`."""

    _app: SyncOstinato

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, f"sync.{type(self).__name__.removeprefix('Sync').lower()}", name)


class SyncSchedules(SyncCalls):
    """`app.schedules` for code that does not await: `sync.schedules.create(…)`."""

    draft = PlainMethod(Schedules.draft)
    declared = PlainMethod(Schedules.declared)
    create = Blocking(Schedules.create)
    create_many = Blocking(Schedules.create_many)
    upsert = Blocking(Schedules.upsert)
    update = Blocking(Schedules.update)
    pause = Blocking(Schedules.pause)
    resume = Blocking(Schedules.resume)
    trigger = Blocking(Schedules.trigger)
    backfill = Blocking(Schedules.backfill)
    pause_backfill = Blocking(Schedules.pause_backfill)
    resume_backfill = Blocking(Schedules.resume_backfill)
    cancel_backfill = Blocking(Schedules.cancel_backfill)
    skip = Blocking(Schedules.skip)
    move = Blocking(Schedules.move)
    put_back = Blocking(Schedules.put_back)
    delete = Blocking(Schedules.delete)
    plan = Blocking(Schedules.plan)
    apply = Blocking(Schedules.apply)
    export = Blocking(Schedules.export)
    entries = Blocking(Schedules.entries)
    each = Blocking(Schedules.each)
    get = Blocking(Schedules.get)
    history = Blocking(Schedules.history)
    times = Blocking(Schedules.times)
    upcoming = Blocking(Schedules.upcoming)
    late = Blocking(Schedules.late)
    staleness = Blocking(Schedules.staleness)
    backfills = Blocking(Schedules.backfills)
    explain = Blocking(Schedules.explain)
    simulate = Blocking(Schedules.simulate)
    simulate_in_process = Blocking(Schedules.simulate_in_process)
    list = Blocking(Schedules.list)


class SyncWebhooks(SyncCalls):
    """`app.webhooks` for code that does not await."""

    create = Blocking(Webhooks.create)
    list = Blocking(Webhooks.list)
    get = Blocking(Webhooks.get)
    update = Blocking(Webhooks.update)
    disable = Blocking(Webhooks.disable)
    enable = Blocking(Webhooks.enable)
    replay = Blocking(Webhooks.replay)
    delete = Blocking(Webhooks.delete)
    deliveries = Blocking(Webhooks.deliveries)
    redeliver = Blocking(Webhooks.redeliver)


class SyncJourneys(SyncCalls):
    """`app.journeys` for code that does not await."""

    deploy = Blocking(Journeys.deploy)
    deploy_text = Blocking(Journeys.deploy_text)
    start = Blocking(Journeys.start)
    submit = Blocking(Journeys.submit)
    cancel = Blocking(Journeys.cancel)
    cancel_binding = Blocking(Journeys.cancel_binding)
    cancel_bindings = Blocking(Journeys.cancel_bindings)
    call = Blocking(Journeys.call)
    wait = Blocking(Journeys.wait)
    check = Blocking(Journeys.check)
    definition = Blocking(Journeys.definition)
    read_definition = Blocking(Journeys.read_definition)
    definitions = Blocking(Journeys.definitions)
    versions = Blocking(Journeys.versions)
    status = Blocking(Journeys.status)
    result = Blocking(Journeys.result)
    hidden = Blocking(Journeys.hidden)
    hidden_bindings = Blocking(Journeys.hidden_bindings)
    instance = Blocking(Journeys.instance)
    page = Blocking(Journeys.page)
    bindings = Blocking(Journeys.bindings)
    binding = Blocking(Journeys.binding)
    list = Blocking(Journeys.list)


class SyncWorkflows(SyncCalls):
    """`app.workflows` for code that does not await."""

    declare = PlainMethod(Workflows.declare)
    reader = PlainMethod(Workflows.reader)
    mutator = PlainMethod(Workflows.mutator)
    deploy = Blocking(Workflows.deploy)
    pause = Blocking(Workflows.pause)
    resume = Blocking(Workflows.resume)
    stop = Blocking(Workflows.stop)
    run_now = Blocking(Workflows.run_now)
    resolve = Blocking(Workflows.resolve)
    skip_event = Blocking(Workflows.skip_event)
    skip_input = Blocking(Workflows.skip_input)
    get = Blocking(Workflows.get)
    runs = Blocking(Workflows.runs)
    run = Blocking(Workflows.run)
    events = Blocking(Workflows.events)
    inputs = Blocking(Workflows.inputs)
    outputs = Blocking(Workflows.outputs)
    draw = Blocking(Workflows.draw)
    list = Blocking(Workflows.list)


class SyncFunctionRun(_SyncHandle[FunctionHandle[T_co]], Generic[T_co]):
    """A run of a durable function that was started, for code that does not await."""

    def result(self, timeout: Length | None = None) -> T_co:
        """Wait for the run's result, and return it. Raises the same errors as `FunctionHandle.result`."""
        return self._app.call(self._handle.result(timeout))

    def send(self, name: str, payload: Any = None, *, id: str | None = None) -> None:
        """Send a message to the run."""
        self._app.call(self._handle.send(name, payload, id=id))

    def info(self) -> FunctionInfo:
        return self._app.call(self._handle.info())

    def cancel(self, reason: str = "") -> str:
        """Cancel the run, and return its status afterwards."""
        return self._app.call(self._handle.cancel(reason))


class SyncFunctions(SyncCalls):
    """`app.functions` for code that does not await."""

    @overload
    def start(
        self,
        function: Callable[..., Coroutine[Any, Any, T]],
        input: Input | None = None,
        **how: Unpack[FunctionStart],
    ) -> SyncFunctionRun[T]: ...

    @overload
    def start(
        self, function: str, input: Input | None = None, **how: Unpack[FunctionStart]
    ) -> SyncFunctionRun[Any]: ...

    def start(
        self, function: str | Callable[..., Any], input: Input | None = None, **how: Unpack[FunctionStart]
    ) -> SyncFunctionRun[Any]:
        """Start a run of a durable function. Takes the same keywords as `app.functions.start`."""
        return SyncFunctionRun(self._app, self._app.call(self._calls.start(function, input, **how)))

    @property
    def declare(self) -> Any:
        """The method `app.functions.declare`, which declares a durable function and needs no event loop."""
        return self._calls.declare

    send = Blocking(Functions.send)
    get = Blocking(Functions.get)
    steps = Blocking(Functions.steps)
    draw = Blocking(Functions.draw)
    declared = Blocking(Functions.declared)
    drain = Blocking(Functions.drain)
    result = Blocking(Functions.result)
    replay = Blocking(Functions.replay)
    cancel = Blocking(Functions.cancel)
    terminate = Blocking(Functions.terminate)
    list = Blocking(Functions.list)


class SyncTurn(_SyncHandle[TurnHandle]):
    """A turn that was accepted, for code that does not await."""

    def outcome(self, timeout: Length | None = None) -> TurnOutcome:
        """Wait for the end of the turn, and return its outcome. Raises the same errors as `TurnHandle.outcome`."""
        return self._app.call(self._handle.outcome(timeout))


class SyncCampaign(_SyncHandle[CampaignHandle]):
    """A campaign that was sent, for code that does not await. `new` is false if it was sent before with the same id."""

    def outcome(self, timeout: Length | None = None) -> CampaignInfo:
        """Wait until the campaign is over, and return it. Raises the same errors as `CampaignHandle.outcome`."""
        return self._app.call(self._handle.outcome(timeout))


class SyncCampaigns(BlockingCalls):
    """`app.agents.campaigns(agent)` for code that does not await."""

    def __init__(self, app: SyncOstinato, campaigns: Campaigns) -> None:
        super().__init__(campaigns, app.call)
        self._app = app

    def send(self, segment: Mapping[str, Any], **options: Any) -> SyncCampaign:
        """Start a campaign for the users of a segment. Takes the same keywords as `Campaigns.send`."""
        return SyncCampaign(self._app, self._wait(self._target.send(segment, **options)))

    def test(self, users: Collection[str], **options: Any) -> SyncCampaign:
        """Start a campaign that sends a message to these users at once. Takes the same keywords as `Campaigns.test`."""
        return SyncCampaign(self._app, self._wait(self._target.test(users, **options)))


class SyncAgents(SyncCalls):
    """`app.agents` for code that does not await."""

    def receive(self, agent: str, user: str, text: str, *, id: str, **profile: Any) -> SyncTurn:
        """Accept a message from a user. Takes the same keywords as `app.agents.receive`."""
        return SyncTurn(self._app, self._app.call(self._calls.receive(agent, user, text, id=id, **profile)))

    def receive_message(self, agent: str, message: InboundMessage) -> SyncTurn:
        """Accept a message that a transport has received."""
        return SyncTurn(self._app, self._app.call(self._calls.receive_message(agent, message)))

    def receive_signed(self, agent: str, headers: Mapping[str, str], body: bytes) -> SyncTurn:
        """Accept a message that is signed with a secret of the agent's transport. Raises `SignatureInvalid` if the
        signature is wrong."""
        return SyncTurn(self._app, self._app.call(self._calls.receive_signed(agent, headers, body)))

    def run_turn(self, agent: str, turn_input: TurnInput) -> SyncTurn:
        """Accept an input from any source, and return its turn."""
        return SyncTurn(self._app, self._app.call(self._calls.run_turn(agent, turn_input)))

    def say_as_person(self, agent: str, user: str, text: str, *, id: str) -> SyncTurn:
        """Send a text of the actor, who is a person. If a person has taken over the conversation, or if the flow has
        asked for a takeover, the text goes to the user. If the flow has put a person between itself and the user
        (`FlowContext.proxy`), the text goes to the flow."""
        return SyncTurn(self._app, self._app.call(self._calls.say_as_person(agent, user, text, id=id)))

    @property
    def declare(self) -> Any:
        """The method `app.agents.declare`, which declares an agent and needs no event loop."""
        return self._calls.declare

    def schedules(self, agent: str) -> Any:
        """Return an object with the methods of `app.agents.schedules(agent)`, as blocking methods."""
        return BlockingCalls(self._calls.schedules(agent), self._app.call)

    def campaigns(self, agent: str) -> SyncCampaigns:
        """Return an object with the methods of `app.agents.campaigns(agent)`, as blocking methods."""
        return SyncCampaigns(self._app, self._calls.campaigns(agent))

    takes_signed = PlainMethod(Agents.takes_signed)
    declared = Blocking(Agents.declared)
    get = Blocking(Agents.get)
    outcome = Blocking(Agents.outcome)
    turn = Blocking(Agents.turn)
    turns = Blocking(Agents.turns)
    user = Blocking(Agents.user)
    users = Blocking(Agents.users)
    external_ids = Blocking(Agents.external_ids)
    put_user = Blocking(Agents.put_user)
    delete_user = Blocking(Agents.delete_user)
    end_session = Blocking(Agents.end_session)
    session = Blocking(Agents.session)
    sessions = Blocking(Agents.sessions)
    messages = Blocking(Agents.messages)
    escalations = Blocking(Agents.escalations)
    escalation = Blocking(Agents.escalation)
    resolve = Blocking(Agents.resolve)
    take_over = Blocking(Agents.take_over)
    hand_back = Blocking(Agents.hand_back)


class SyncOstinato(Calls):
    """An app for code that does not await.

    `with SyncOstinato(app) as sync:` runs a node, as `async with app:` does. `with SyncOstinato(app).connected() as
    sync:` only opens the store, to start and watch runs that other processes execute.
    """

    def __init__(self, app: Ostinato, *, node: bool = True) -> None:
        super().__init__(self, app)
        self.app = app
        self._node = node
        self._loop = LoopThread("ostinato-loop", "the app is not open; use `with SyncOstinato(app) as sync:`")

    def __enter__(self) -> SyncOstinato:
        self._loop.start()
        try:
            self.call(self.app._open(node=self._node))
        except BaseException:
            self._loop.stop()
            raise
        return self

    @contextmanager
    def connected(self) -> Iterator[SyncOstinato]:
        """Open the store without running a node. Yields another `SyncOstinato`, which is connected until the `with`
        block ends."""
        with SyncOstinato(self.app, node=False) as opened:
            yield opened

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.call(self.app._close())
        finally:
            self._loop.stop()

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the app's event loop, and return the result."""
        return self._loop.call(coroutine)

    @overload
    def start(
        self, job: Callable[..., Coroutine[Any, Any, T]], input: Input | None = None, **how: Unpack[StartCall]
    ) -> SyncRun[T]: ...

    @overload
    def start(self, job: Callable[..., T], input: Input | None = None, **how: Unpack[StartCall]) -> SyncRun[T]: ...

    @overload
    def start(self, job: str, input: Input | None = None, **how: Unpack[StartCall]) -> SyncRun[Any]: ...

    def start(
        self, job: str | Callable[..., Any], input: Input | None = None, **how: Unpack[StartCall]
    ) -> SyncRun[Any]:
        """Start a run of a job. Takes the keywords of `Ostinato.start`, such as `connection`."""
        connection = how.pop("connection", None)
        if connection is None:
            return SyncRun(self, self.call(self.app.start(job, input, **how)))
        started = run_in_caller_transaction_sync(connection, self.app.starting(job, input, **how))
        return SyncRun(self, RunHandle(self.app, started.id, started.new))

    @overload
    def start_many(
        self, job: Callable[..., Coroutine[Any, Any, T]], inputs: Sequence[Input], **how: Unpack[StartManyCall]
    ) -> list[SyncRun[T]]: ...

    @overload
    def start_many(
        self, job: Callable[..., T], inputs: Sequence[Input], **how: Unpack[StartManyCall]
    ) -> list[SyncRun[T]]: ...

    @overload
    def start_many(self, job: str, inputs: Sequence[Input], **how: Unpack[StartManyCall]) -> list[SyncRun[Any]]: ...

    def start_many(
        self, job: str | Callable[..., Any], inputs: Sequence[Input], **how: Unpack[StartManyCall]
    ) -> list[SyncRun[Any]]:
        """Start many runs of one job. Takes the same keywords as `Ostinato.start_many`."""
        return [SyncRun(self, handle) for handle in self.call(self.app.start_many(job, inputs, **how))]

    @property
    def schedules(self) -> SyncSchedules:
        """The methods of `app.schedules`; each blocks until it is done."""
        return SyncSchedules(self, self.app.schedules)

    @property
    def webhooks(self) -> SyncWebhooks:
        """The methods of `app.webhooks`; each blocks until it is done."""
        return SyncWebhooks(self, self.app.webhooks)

    @property
    def journeys(self) -> SyncJourneys:
        """The methods of `app.journeys`; each blocks until it is done."""
        return SyncJourneys(self, self.app.journeys)

    @property
    def workflows(self) -> SyncWorkflows:
        """The methods of `app.workflows`; each blocks until it is done."""
        return SyncWorkflows(self, self.app.workflows)

    @property
    def functions(self) -> SyncFunctions:
        """The methods of `app.functions`; each blocks until it is done."""
        return SyncFunctions(self, self.app.functions)

    @property
    def agents(self) -> SyncAgents:
        """The methods of `app.agents`; each blocks until it is done."""
        return SyncAgents(self, self.app.agents)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name not in {way.name for way in self.app.ways}:
                raise missing_attribute(self, "sync", name)
            return BlockingCalls(getattr(self.app, name), self.call)

    get = Blocking(Ostinato.get)
    attempts = Blocking(Ostinato.attempts)
    runs = Blocking(Ostinato.runs)
    counts = Blocking(Ostinato.counts)
    logs = Blocking(Ostinato.logs)
    events = Blocking(Ostinato.events)
    nodes = Blocking(Ostinato.nodes)
    cancel = Blocking(Ostinato.cancel)
    terminate = Blocking(Ostinato.terminate)

    def retry(self, id: str, *, request_id: str | None = None) -> SyncRun[Any]:
        """Start a new run with the same job, input and options as the run `id`, which must have ended."""
        return SyncRun(self, self.call(self.app.retry(id, request_id=request_id)))
