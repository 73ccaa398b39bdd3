"""Run the task `cache:v1`, which gets or puts a cached value. A put repeated after a crash stores the same value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import orjson

from ostinato.errors import OstinatoError
from ostinato.journeys.expressions.contract import Failure
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.shapes import identifier, key, mapped, one_of, seconds
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Fault, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.model import Json

LONGEST_KEY = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheSettings:
    operation: str = key("operation", one_of("get", "put"))
    named: Expression = key("key", mapped)
    value: Expression | None = key("value", mapped, None)
    ttl_s: int | None = key("ttlSeconds", seconds(), None)
    result_var: str | None = key("resultVar", identifier, None)


@dataclass(slots=True)
class CacheTask:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "cache"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return check_settings(CacheSettings, settings, _faults)

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(CacheSettings, call.settings)
        name = await call.evaluate(settings.named)
        if isinstance(name, Failure):
            return _failed(name)
        spelled = name.value if isinstance(name.value, str) else orjson.dumps(name.value).decode()
        if name.value is None or not spelled or len(spelled) > LONGEST_KEY:
            detail = f"the key is null, empty or longer than {LONGEST_KEY} characters"
            return TaskProblem("CACHE_KEY_INVALID", "The cache has no such key", detail)
        cache, place = call.services["cache"], f"value:{spelled}"
        if settings.operation == "get":
            return TaskResult({**call.context, str(settings.result_var): await cache.get(place)})
        assert settings.value is not None
        value = await call.evaluate(settings.value)
        if isinstance(value, Failure):
            return _failed(value)
        try:
            await cache.put(place, value.value, settings.ttl_s or self.settings.cache_ttl_s)
        except OstinatoError as problem:
            return TaskProblem("CACHE_VALUE_INVALID", "The cache cannot keep the value", str(problem))
        return TaskResult(call.context)


def _faults(settings: CacheSettings) -> Iterator[Fault]:
    if settings.operation == "get":
        if settings.result_var is None:
            yield Fault("cache-result", (), "'resultVar' is missing", "say where the value goes")
        for name, value in (("value", settings.value), ("ttlSeconds", settings.ttl_s)):
            if value is not None:
                yield Fault("cache-field", (name,), f"a get has no {name!r}", "leave it out")
    if settings.operation == "put":
        if settings.value is None:
            yield Fault("cache-field", (), "'value' is missing", "say what is kept")
        if settings.result_var is not None:
            yield Fault("cache-field", ("resultVar",), "a put has no 'resultVar'", "leave it out")


def _failed(failure: Failure) -> TaskProblem:
    return TaskProblem(failure.code, "An expression of the task failed", failure.message, internal=True)
