"""Connect workflows to an app: provide `app.workflows`, execute claimed runs, and deploy what the app declares."""

from __future__ import annotations

from collections.abc import Mapping

from ostinato.engine.kinds import Body
from ostinato.engine.node import Engine
from ostinato.engine.ways import Host, Part, Runtime
from ostinato.workflows.api import Workflows
from ostinato.workflows.model import KIND
from ostinato.workflows.operations.start_runs import fire
from ostinato.workflows.queries import WorkflowApiContext
from ostinato.workflows.runtime.body import WorkflowBody
from ostinato.workflows.runtime.codes import WorkflowCodes
from ostinato.workflows.standard_tools import add_standard_tools
from ostinato.workflows.stop_and_recover import RUN_KIND
from ostinato.workflows.tools import Tools


class WorkflowsPart(Part):
    api: Workflows

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self._codes, self._tools = WorkflowCodes(), Tools()
        add_standard_tools(self._tools, host)
        self._body: WorkflowBody | None = None
        self.api = Workflows(
            WorkflowApiContext(
                store=host.store,
                now=lambda: host.engine().clock.now(),
                nudge=lambda: host.engine().nudge(),
                codes=self._codes,
                tools=self._tools,
                namespace=host.namespace,
                actor=host.actor,
            )
        )

    def take_over(self, before: Part) -> None:
        assert isinstance(before, WorkflowsPart)
        self._codes.take_over(before._codes)
        self._tools.take_over(before._tools)

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        self._body = WorkflowBody(engine, self._codes, self._tools, self.api.fix)
        self._body.start()
        return {KIND: self._body}

    async def prepare(self) -> None:
        await self.api.deploy_declared()

    async def close(self) -> None:
        if self._body is not None:
            await self._body.stop()


RUNTIME = Runtime(part=WorkflowsPart, kinds={KIND: RUN_KIND}, timers={(KIND, "next"): fire})
