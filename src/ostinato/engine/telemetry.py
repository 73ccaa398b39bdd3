"""Define the engine's Prometheus metrics, and create its OpenTelemetry spans. `engine/log.py` writes log lines."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

from opentelemetry import trace
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram


class Metrics:
    """Prometheus metrics of one engine. An exporter reads `registry`."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        r = self.registry
        self.claimed = Counter("ostinato_runs_claimed_total", "Runs claimed by this node", registry=r)
        self.ended = Counter("ostinato_runs_ended_total", "Attempts ended by this node", ["status"], registry=r)
        self.refused = Counter("ostinato_writes_refused_total", "Writes that the fence kept out", registry=r)
        self.fired = Counter("ostinato_timers_fired_total", "Timers fired by this node", registry=r)
        self.parked = Counter("ostinato_timers_parked_total", "Timers whose firing failed", registry=r)
        self.recovered = Counter("ostinato_runs_recovered_total", "Runs taken over from lost nodes", registry=r)
        self.lag = Histogram(
            "ostinato_beat_lag_seconds",
            "How late the oldest timer of a batch was fired",
            registry=r,
            buckets=(0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30, 300),
        )
        self.commit = Histogram("ostinato_commit_seconds", "How long a group commit of outcomes took", registry=r)
        of_schedule = ["namespace", "schedule"]
        self.since_success = Gauge(
            "ostinato_schedule_since_success_seconds",
            "Seconds since a schedule's last success",
            of_schedule,
            registry=r,
        )
        self.overdue = Gauge(
            "ostinato_schedule_overdue_seconds",
            "Seconds that a schedule's next time has passed",
            of_schedule,
            registry=r,
        )
        self.running = Gauge("ostinato_runs_running", "Bodies running on this node", registry=r)
        self.threads = Gauge("ostinato_threads_busy", "Threads running a body, late ones included", registry=r)
        self.beat = Gauge("ostinato_beat_age_seconds", "Seconds since the beat last came round", registry=r)


class Spans:
    """Creates OpenTelemetry spans if the process has set up tracing. Otherwise it does nothing."""

    def __init__(self) -> None:
        provider = trace.get_tracer_provider()
        self.on = type(provider).__name__ not in ("ProxyTracerProvider", "NoOpTracerProvider")
        self.tracer = trace.get_tracer("ostinato")

    def of(self, name: str, **attributes: str | int) -> AbstractContextManager[trace.Span | None]:
        """Return a context manager that records a span and yields it. Without tracing, it yields None."""
        if not self.on:
            return _NOTHING
        named = {f"ostinato.{key}": value for key, value in attributes.items()}
        return self.tracer.start_as_current_span(name, attributes=named)


_NOTHING: AbstractContextManager[None] = nullcontext()
