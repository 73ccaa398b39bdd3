"""Run the task `kafkaPublish:v1`, which publishes one record to Kafka and ends when the cluster has confirmed the
record. If the task is repeated after a crash, the record may be published twice. Both records have the same
`idempotency-key` header, so consumers can recognize the duplicate."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from ostinato.engine.http.secrets import SecretMissing, secret_reference
from ostinato.journeys.expressions.contract import Failure, Value
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.blocks import texts
from ostinato.journeys.language.interpolation import MissingValue, fill, wrong_placeholders
from ostinato.journeys.language.shapes import key, mapped, or_mapped, text
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import ConfigMissing, JourneySettings
from ostinato.journeys.task_kind import Fault, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.journeys.tasks.services import Publisher, PublishFailed, Record
from ostinato.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaSettings:
    topic: str = key("topic", text())
    value: Expression = key("value", mapped)
    named: str | Expression | None = key("key", or_mapped(text()), None)
    headers: Mapping[str, str] = key("headers", texts, make=dict)
    key_schema_ref: str | None = key("keySchemaRef", text(), None)
    value_schema_ref: str | None = key("valueSchemaRef", text(), None)
    connection: str | None = key("connectionSecretRef", text(), None)


@dataclass(slots=True)
class KafkaPublish:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "kafkaPublish"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return check_settings(KafkaSettings, settings, _faults)

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(KafkaSettings, call.settings)
        publisher: Publisher | None = call.services.get("publisher")
        if publisher is None:
            return _internal("KAFKA_CONFIG", "this engine has no publisher")
        value = await call.evaluate(settings.value)
        named = settings.named
        key = await call.evaluate(named) if isinstance(named, Expression) else Value(None)
        if isinstance(value, Failure):
            return _internal(value.code, value.message)
        if isinstance(key, Failure):
            return _internal(key.code, key.message)
        try:
            config = self.settings.config_for(call.definition)
            reference, connection = settings.connection, None
            if reference is not None:
                connection = call.secret(secret_reference(reference) or reference)
            headers = {name: fill(template, call.context, config) for name, template in settings.headers.items()}
            spelled = fill(named, call.context, config) if isinstance(named, str) else _key(key.value)
        except MissingValue as problem:
            return TaskProblem("KAFKA_VALUE_MISSING", "A value of the record is missing", str(problem))
        except (ConfigMissing, SecretMissing) as problem:
            return _internal("KAFKA_CONFIG", str(problem))
        record = Record(
            topic=settings.topic,
            value=orjson.dumps(value.value),
            key=None if spelled is None else spelled.encode(),
            headers={**headers, "idempotency-key": call.key},
        )
        try:
            async with asyncio.timeout(call.remaining_s):
                await publisher.publish(record, connection)
        except PublishFailed as problem:
            return TaskProblem("KAFKA_PUBLISH_FAILED", "The record was not published", str(problem))
        except TimeoutError:
            detail = "the run's deadline leaves no time for it"
            return TaskProblem("KAFKA_PUBLISH_FAILED", "The record was not published", detail)
        return TaskResult(call.context)


def _key(value: Json) -> str | None:
    return value if value is None or isinstance(value, str) else orjson.dumps(value).decode()


def _faults(settings: KafkaSettings) -> Iterator[Fault]:
    if settings.connection is not None and secret_reference(settings.connection) is None:
        hint = "write secret://name"
        yield Fault("kafka-connection", ("connectionSecretRef",), "this is not a reference to a secret", hint)
    for name, value in (("keySchemaRef", settings.key_schema_ref), ("valueSchemaRef", settings.value_schema_ref)):
        if value is not None:
            message = f"{name!r} is not enforced: records are written as JSON"
            yield Fault("kafka-schema", (name,), message, severity=Severity.WARNING)
    templates = [(("headers", name), value) for name, value in settings.headers.items()]
    for path, template in [*templates, *([(("key",), settings.named)] if isinstance(settings.named, str) else [])]:
        for placeholder in wrong_placeholders(template):
            yield Fault("kafka-placeholder", path, f"{placeholder} is not a placeholder", "write ${context.a.b}")


def _internal(code: str, detail: str) -> TaskProblem:
    return TaskProblem(code, "The record cannot be published here", detail, internal=True)
