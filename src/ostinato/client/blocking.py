"""Define `SyncClient`, the client for code that does not await."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

from ostinato.blocking import Blocking, BlockingCalls, Calls, LoopThread
from ostinato.client.agent_campaigns import AgentCampaigns
from ostinato.client.agent_schedules import AgentSchedules
from ostinato.client.agents import Agents
from ostinato.client.calling import Json
from ostinato.client.client import DEFAULT_SERVER, Client
from ostinato.client.functions import Functions
from ostinato.client.journeys import Journeys
from ostinato.client.schedules import Schedules
from ostinato.client.webhooks import Webhooks
from ostinato.client.workflows import Workflows
from ostinato.errors import missing_attribute


class SyncCalls(Calls):
    """The base class for the blocking form of a part of the client. `_place` is how users write the part, such as
    `client.schedules`."""

    _place = "this part of the client"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, self._place, name)


class SyncSchedules(SyncCalls):
    """`client.schedules` for code that does not await."""

    _place = "client.schedules"
    get = Blocking(Schedules.get)
    create = Blocking(Schedules.create)
    put = Blocking(Schedules.put)
    update = Blocking(Schedules.update)
    pause = Blocking(Schedules.pause)
    resume = Blocking(Schedules.resume)
    trigger = Blocking(Schedules.trigger)
    backfill = Blocking(Schedules.backfill)
    backfills = Blocking(Schedules.backfills)
    turn_backfill = Blocking(Schedules.turn_backfill)
    skip = Blocking(Schedules.skip)
    move = Blocking(Schedules.move)
    put_back = Blocking(Schedules.put_back)
    delete = Blocking(Schedules.delete)
    history = Blocking(Schedules.history)
    times = Blocking(Schedules.times)
    explain = Blocking(Schedules.explain)
    upcoming = Blocking(Schedules.upcoming)
    plan = Blocking(Schedules.plan)
    apply = Blocking(Schedules.apply)
    export = Blocking(Schedules.export)
    simulate = Blocking(Schedules.simulate)
    draw = Blocking(Schedules.draw)
    list = Blocking(Schedules.list)


class SyncWebhooks(SyncCalls):
    """`client.webhooks` for code that does not await."""

    _place = "client.webhooks"
    list = Blocking(Webhooks.list)
    get = Blocking(Webhooks.get)
    create = Blocking(Webhooks.create)
    update = Blocking(Webhooks.update)
    disable = Blocking(Webhooks.disable)
    enable = Blocking(Webhooks.enable)
    replay = Blocking(Webhooks.replay)
    delete = Blocking(Webhooks.delete)
    deliveries = Blocking(Webhooks.deliveries)
    redeliver = Blocking(Webhooks.redeliver)


class SyncJourneys(SyncCalls):
    """`client.journeys` for code that does not await."""

    _place = "client.journeys"
    start = Blocking(Journeys.start)
    status = Blocking(Journeys.status)
    result = Blocking(Journeys.result)
    step = Blocking(Journeys.step)
    cancel = Blocking(Journeys.cancel)
    draw = Blocking(Journeys.draw)
    call = Blocking(Journeys.call)
    deploy = Blocking(Journeys.deploy)
    validate = Blocking(Journeys.validate)
    definitions = Blocking(Journeys.definitions)
    versions = Blocking(Journeys.versions)
    definition = Blocking(Journeys.definition)
    openapi = Blocking(Journeys.openapi)
    draw_definition = Blocking(Journeys.draw_definition)
    bindings = Blocking(Journeys.bindings)
    binding = Blocking(Journeys.binding)
    cancel_binding = Blocking(Journeys.cancel_binding)
    list = Blocking(Journeys.list)


class SyncWorkflows(SyncCalls):
    """`client.workflows` for code that does not await."""

    _place = "client.workflows"
    list = Blocking(Workflows.list)
    get = Blocking(Workflows.get)
    draw = Blocking(Workflows.draw)
    runs = Blocking(Workflows.runs)
    run = Blocking(Workflows.run)
    events = Blocking(Workflows.events)
    inputs = Blocking(Workflows.inputs)
    outputs = Blocking(Workflows.outputs)
    pause = Blocking(Workflows.pause)
    resume = Blocking(Workflows.resume)
    stop = Blocking(Workflows.stop)
    run_now = Blocking(Workflows.run_now)
    resolve = Blocking(Workflows.resolve)
    skip_event = Blocking(Workflows.skip_event)
    skip_input = Blocking(Workflows.skip_input)


class SyncFunctions(SyncCalls):
    """`client.functions` for code that does not await."""

    _place = "client.functions"
    start = Blocking(Functions.start)
    send = Blocking(Functions.send)
    get = Blocking(Functions.get)
    result = Blocking(Functions.result)
    steps = Blocking(Functions.steps)
    draw = Blocking(Functions.draw)
    declared = Blocking(Functions.declared)
    drain = Blocking(Functions.drain)
    cancel = Blocking(Functions.cancel)
    terminate = Blocking(Functions.terminate)
    list = Blocking(Functions.list)


class SyncAgentSchedules(SyncCalls):
    """`client.agents.schedules(agent)` for code that does not await."""

    _place = "client.agents.schedules(…)"
    create = Blocking(AgentSchedules.create)
    list = Blocking(AgentSchedules.list)
    get = Blocking(AgentSchedules.get)
    update = Blocking(AgentSchedules.update)
    cancel = Blocking(AgentSchedules.cancel)
    pause = Blocking(AgentSchedules.pause)
    resume = Blocking(AgentSchedules.resume)
    trigger = Blocking(AgentSchedules.trigger)
    runs = Blocking(AgentSchedules.runs)


class SyncAgentCampaigns(SyncCalls):
    """`client.agents.campaigns(agent)` for code that does not await."""

    _place = "client.agents.campaigns(…)"
    send = Blocking(AgentCampaigns.send)
    test = Blocking(AgentCampaigns.test)
    preview = Blocking(AgentCampaigns.preview)
    get = Blocking(AgentCampaigns.get)
    wait = Blocking(AgentCampaigns.wait)
    list = Blocking(AgentCampaigns.list)
    recipients = Blocking(AgentCampaigns.recipients)
    explain = Blocking(AgentCampaigns.explain)
    pause = Blocking(AgentCampaigns.pause)
    resume = Blocking(AgentCampaigns.resume)
    stop = Blocking(AgentCampaigns.stop)
    suppress = Blocking(AgentCampaigns.suppress)
    unsuppress = Blocking(AgentCampaigns.unsuppress)
    suppressed = Blocking(AgentCampaigns.suppressed)


class SyncAgents(SyncCalls):
    """`client.agents` for code that does not await."""

    _place = "client.agents"
    get = Blocking(Agents.get)
    receive = Blocking(Agents.receive)
    turn = Blocking(Agents.turn)
    outcome = Blocking(Agents.outcome)
    turns = Blocking(Agents.turns)
    user = Blocking(Agents.user)
    users = Blocking(Agents.users)
    put_user = Blocking(Agents.put_user)
    delete_user = Blocking(Agents.delete_user)
    session = Blocking(Agents.session)
    sessions = Blocking(Agents.sessions)
    end_session = Blocking(Agents.end_session)
    messages = Blocking(Agents.messages)
    mint_session_token = Blocking(Agents.mint_session_token)
    session_tokens = Blocking(Agents.session_tokens)
    revoke_session_token = Blocking(Agents.revoke_session_token)
    escalations = Blocking(Agents.escalations)
    escalation = Blocking(Agents.escalation)
    resolve = Blocking(Agents.resolve)
    take_over = Blocking(Agents.take_over)
    hand_back = Blocking(Agents.hand_back)
    say = Blocking(Agents.say)
    list = Blocking(Agents.list)

    def schedules(self, agent: str) -> SyncAgentSchedules:
        """Return the calls about the schedules of an agent."""
        return SyncAgentSchedules(self._app, self._calls.schedules(agent))

    def campaigns(self, agent: str) -> SyncAgentCampaigns:
        """Return the calls about the campaigns of an agent."""
        return SyncAgentCampaigns(self._app, self._calls.campaigns(agent))


class SyncClient(Calls):
    """The calls of `Client` for code that does not await: `with SyncClient(…) as client: client.schedules.pause("a")`.
    Each call blocks until it is done. `follow` returns a plain iterator."""

    def __init__(self, server: str = DEFAULT_SERVER, **options: Any) -> None:
        client = Client(server, **options)
        loop = LoopThread("ostinato-client", "the client is not open; use `with SyncClient(…) as client:`")
        super().__init__(loop, client)
        self._client = client
        self._loop = loop
        self.schedules = SyncSchedules(loop, client.schedules)
        self.webhooks = SyncWebhooks(loop, client.webhooks)
        self.journeys = SyncJourneys(loop, client.journeys)
        self.workflows = SyncWorkflows(loop, client.workflows)
        self.functions = SyncFunctions(loop, client.functions)
        self.agents = SyncAgents(loop, client.agents)

    def __enter__(self) -> Self:
        self._loop.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call(self._client.__aexit__())
        self._loop.stop()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, "the client", name)

    @property
    def server(self) -> str:
        """The URL of the server."""
        return self._client.server

    def follow(self, *, pattern: str = "*", subject: str | None = None, after: int | None = None) -> Iterator[Json]:
        """Yield each event as it happens, without end. Takes the arguments of `Client.follow`."""
        calls = BlockingCalls(self._client, self._loop.call)
        yield from calls.follow(pattern=pattern, subject=subject, after=after)

    call = Blocking(Client.call)
    runs = Blocking(Client.runs)
    run = Blocking(Client.run)
    attempts = Blocking(Client.attempts)
    log = Blocking(Client.log)
    cancel = Blocking(Client.cancel)
    terminate = Blocking(Client.terminate)
    retry = Blocking(Client.retry)
    jobs = Blocking(Client.jobs)
    start = Blocking(Client.start)
    start_many = Blocking(Client.start_many)
    events = Blocking(Client.events)
    namespaces = Blocking(Client.namespaces)
    create_namespace = Blocking(Client.create_namespace)
    delete_namespace = Blocking(Client.delete_namespace)
    tokens = Blocking(Client.tokens)
    create_token = Blocking(Client.create_token)
    revoke_token = Blocking(Client.revoke_token)
    nodes = Blocking(Client.nodes)
    diagnose = Blocking(Client.diagnose)
    ready = Blocking(Client.ready)
