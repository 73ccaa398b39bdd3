"""`kafkaPublish:v1` on librdkafka's own mock cluster: real records over a real wire."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.tasks.kafka_producer import KafkaPublisher
from ostinato.journeys.tasks.kafka_publish import KafkaPublish
from tests.unit.journeys.tasks.calling import call_of, context, mapper, problem


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """The address of a cluster that lives in this process, as long as the client that made it."""
    holder = Producer({"test.mock.num.brokers": 1, "log_level": 0})
    metadata = holder.list_topics(timeout=10)
    broker = next(iter(metadata.brokers.values()))
    yield f"{broker.host}:{broker.port}"
    holder.flush(1)


def records(bootstrap: str) -> list[Any]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "t"})
    partitions = consumer.list_topics("orders", timeout=10).topics["orders"].partitions
    consumer.assign([TopicPartition("orders", one, OFFSET_BEGINNING) for one in partitions])
    messages = [consumer.poll(20), consumer.poll(20)]
    consumer.close()
    return messages


def settings(**more: Any) -> dict[str, Any]:
    return {"topic": "orders", "value": mapper("context.order"), **more}


def test_a_record_arrives_with_its_key_headers_and_idempotency_key(bootstrap: str) -> None:
    publisher = KafkaPublisher({"bootstrap.servers": bootstrap})
    values = {"order": {"id": 7}, "tenant": "t1"}
    asked = settings(key=mapper("context.order.id"), headers={"tenant": "${context.tenant}"})
    assert context(KafkaPublish(), call_of(asked, values, publisher=publisher)) == values
    by_secret = settings(connectionSecretRef="secret://k", key="fixed ${context.tenant}")
    call = call_of(by_secret, values, publisher=KafkaPublisher({}), secrets={"k": bootstrap})
    context(KafkaPublish(), call)
    first, second = sorted(records(bootstrap), key=lambda one: bool(one.key() != b"7"))
    assert (first.key(), json.loads(first.value())) == (b"7", {"id": 7})
    assert dict(first.headers()) == {"tenant": b"t1", "idempotency-key": b"run-1:0:1"}
    assert second.key() == b"fixed t1"
    publisher.close()


def test_what_is_not_taken_is_a_problem_without_the_connection() -> None:
    nobody: dict[str, str | int] = {
        "bootstrap.servers": "127.0.0.1:1",
        "delivery.timeout.ms": 300,
        "request.timeout.ms": 200,
        "linger.ms": 0,
        "log_level": 0,
    }
    call = call_of(settings(), {"order": 1}, publisher=KafkaPublisher(nobody))
    fault = problem(KafkaPublish(), call)
    assert fault.code == "KAFKA_PUBLISH_FAILED"
    assert "127.0.0.1" not in fault.detail
    wrong = call_of(
        settings(connectionSecretRef="secret://k"),
        {"order": 1},
        publisher=KafkaPublisher({}),
        secrets={"k": '{"x": 1}'},
    )
    assert problem(KafkaPublish(), wrong).code == "KAFKA_PUBLISH_FAILED"


def test_a_record_that_is_not_taken_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    class Never:
        async def publish(self, record: Any, connection: str | None = None) -> None:
            await asyncio.Event().wait()

    call = call_of(settings(), {"order": 1}, publisher=Never(), remaining_s=0.01)
    assert problem(KafkaPublish(), call).code == "KAFKA_PUBLISH_FAILED"
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    call = call_of(settings(), {"order": 1}, publisher=KafkaPublisher({"bootstrap.servers": "127.0.0.1:1"}))
    assert "pip install '.[kafka]'" in problem(KafkaPublish(), call).detail


def test_what_is_missing_here_or_in_the_run() -> None:
    assert problem(KafkaPublish(), call_of(settings(), {"order": 1})).code == "KAFKA_CONFIG"
    asked = settings(headers={"a": "${context.gone}"})
    call = call_of(asked, {"order": 1}, publisher=KafkaPublisher({}))
    assert problem(KafkaPublish(JourneySettings()), call).code == "KAFKA_VALUE_MISSING"
