"""Provide the service `publisher`, which publishes records to Kafka by librdkafka (the extra `kafka`). A record counts
as published when all in-sync replicas have confirmed it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from ostinato.engine.http.secrets import SecretMissing, resolve
from ostinato.errors import install_hint
from ostinato.journeys.tasks.services import PublishFailed, Record

_TIMEOUT_MS = 30_000


class KafkaPublisher:
    """Publishes records to Kafka. `settings` are the settings of librdkafka for tasks that name no secret. If a task
    names a secret, the secret is used instead of `settings`. A secret contains settings as a JSON object, or the
    bootstrap servers as text."""

    def __init__(self, settings: Mapping[str, str | int]) -> None:
        self._settings = dict(settings)
        self._producers: dict[str | None, Any] = {}

    async def publish(self, record: Record, connection: str | None = None) -> None:
        producer = self._producer(connection)
        from confluent_kafka import KafkaException

        loop = asyncio.get_running_loop()
        delivered: asyncio.Future[None] = loop.create_future()

        def settle(error: Any) -> None:
            if delivered.done():
                return
            if error is None:
                delivered.set_result(None)
            else:
                delivered.set_exception(PublishFailed(f"{error.name()}"))

        def report(error: Any, _: Any) -> None:
            if not loop.is_closed():  # otherwise no caller waits
                loop.call_soon_threadsafe(settle, error)

        try:
            producer.produce(
                record.topic,
                record.value,
                record.key,
                on_delivery=report,
                headers=[(name, value.encode()) for name, value in record.headers.items()],
            )
        except (BufferError, KafkaException, ValueError, TypeError) as problem:
            raise PublishFailed(f"{type(problem).__name__}: the record was not taken") from None
        while not delivered.done():
            await asyncio.to_thread(producer.poll, 0.1)
            await asyncio.sleep(0)
        await delivered

    def _producer(self, connection: str | None) -> Any:
        if connection not in self._producers:
            try:
                from confluent_kafka import KafkaException, Producer
            except ImportError:
                raise PublishFailed(f"librdkafka is not installed; {install_hint('kafka')}") from None
            safe = {"enable.idempotence": True, "delivery.timeout.ms": _TIMEOUT_MS, **self._read(connection)}
            try:
                self._producers[connection] = Producer(safe)
            except (KafkaException, ValueError, TypeError):
                raise PublishFailed("librdkafka does not take the settings") from None
        return self._producers[connection]

    def _read(self, connection: str | None) -> dict[str, Any]:
        if connection is None:
            if not self._settings:
                raise PublishFailed("there are no settings for Kafka")
            try:
                return dict(resolve(self._settings).value)
            except SecretMissing as problem:
                raise PublishFailed(str(problem)) from None
        try:
            settings = json.loads(connection)
        except json.JSONDecodeError:
            return {"bootstrap.servers": connection.strip()}
        if not isinstance(settings, dict):
            raise PublishFailed("the connection's secret is not an object of settings")
        return settings

    def close(self) -> None:
        """Wait up to 5 s for each producer to deliver its records, then close all producers."""
        for producer in self._producers.values():
            producer.flush(5)
        self._producers.clear()
