"""Add journeys to an app. `JourneysPart` provides `app.journeys`, starts the node's `JourneyRunner`, and deploys the
definitions that the setting `journeys` names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ostinato.engine.kinds import Body
from ostinato.engine.node import Engine
from ostinato.engine.ways import Host, Part, Runtime
from ostinato.journeys.action_kind import ACTION
from ostinato.journeys.api.changes import Journeys
from ostinato.journeys.api.queries import JourneyApiContext
from ostinato.journeys.rows import KIND
from ostinato.journeys.runtime.cached_values import StoreCache
from ostinato.journeys.runtime.perform_effects import Evaluator, JourneyRuntime
from ostinato.journeys.runtime.runner import JourneyRunner
from ostinato.journeys.runtime.stop_and_recover import RUN_KIND
from ostinato.journeys.runtime.timers import TIMERS
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.tasks.kafka_producer import KafkaPublisher
from ostinato.journeys.tasks.standard import standard_plugins
from ostinato.when.instants import Micros


class JourneysPart(Part):
    api: Journeys

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        settings = host.settings.get("journey_settings") or JourneySettings()
        sources = host.settings.get("journeys", ())
        self._sources = (sources,) if isinstance(sources, str | Path) else tuple(sources)
        self._plugins = host.settings.get("journey_plugins") or standard_plugins(settings)
        self._publisher = KafkaPublisher(settings.kafka)
        self._runner: JourneyRunner | None = None
        self._runtime = JourneyRuntime(
            plugins=self._plugins,
            evaluator=Evaluator(self._plugins.languages, self._expression_time),
            settings=settings,
            services=self._services,
            now=self._now,
            namespace=host.namespace,
        )
        self.api = Journeys(
            JourneyApiContext(
                store=host.store,
                engine=host.engine,
                runner=self._active_runner,
                node=host.node,
                runtime=self._runtime,
                new_id=host.new_id,
                namespace=host.namespace,
                actor=host.actor,
                computing=host.computing,
            )
        )

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        self._runner = JourneyRunner(engine, self._runtime)
        self._runner.start()
        return {KIND: self._runner}

    async def prepare(self) -> None:
        """Deploy the definitions that the setting `journeys` names. A version that is already stored is not changed."""
        if self._sources:
            await self.api.deploy(*self._sources)

    async def close(self) -> None:
        await self.abandon()
        self._publisher.close()
        for language in self._plugins.languages.values():
            language.close()

    async def abandon(self) -> None:
        if self._runner is not None:
            await self._runner.stop()

    def _now(self) -> Micros:
        """Return the engine's time, even while the engine is stopping."""
        return self.host.engine().clock.now() if self._runner is None else self._runner.now()

    def _expression_time(self) -> Micros | None:
        return self._now() if self.host.virtual else None

    def _active_runner(self) -> JourneyRunner:
        assert self._runner is not None
        return self._runner

    def _services(self, namespace: str) -> dict[str, Any]:
        cache = StoreCache(self.host.store, self._now, namespace)
        return {"egress": self.host.egress, "cache": cache, "publisher": self._publisher}


RUNTIME = Runtime(part=JourneysPart, kinds={KIND: RUN_KIND}, timers=TIMERS, actions=(ACTION,))
