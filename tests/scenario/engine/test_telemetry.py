"""Logs, metrics and spans of a node."""

from __future__ import annotations

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import generate_latest

from ostinato.testing import World, run_virtual


async def test_logs_carry_an_action_and_metrics_count(world: World, caplog: pytest.LogCaptureFixture) -> None:
    @world.app.job()
    async def work() -> None: ...

    with caplog.at_level("INFO", logger="ostinato"):
        run = await world.start("work")
        await run.result()
        await world.settle()
        text = generate_latest(world.app.engine.metrics.registry).decode()
        await world.down()
    assert [record.values["action"] for record in caplog.records] == ["node_started", "node_stopped"]  # type: ignore[attr-defined]
    assert 'ostinato_runs_ended_total{status="succeeded"} 1.0' in text
    assert "ostinato_runs_claimed_total 1.0" in text


def test_spans_are_made_where_tracing_is_set_up() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    world = World()

    async def main() -> None:
        @world.app.job()
        async def work() -> None: ...

        await world.up()
        world.app.engine.bodies.spans.on = True
        world.app.engine.bodies.spans.tracer = trace.get_tracer("ostinato", tracer_provider=provider)
        await (await world.start("work")).result()
        await world.close()

    run_virtual(main(), world.clock)
    spans = {span.name: span for span in exporter.get_finished_spans()}
    assert set(spans) == {"run work", "claim"}
    span = spans["run work"]
    assert span.attributes is not None
    assert span.attributes["ostinato.attempt"] == 1
