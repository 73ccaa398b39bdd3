"""The task kinds that come with Ostinato, but for `schedule:v1`, which belongs to the run's own machinery. Each is made
with the settings of whoever runs it; what it uses besides comes with the call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ostinato.journeys.language import Definition
from ostinato.journeys.plugins import Fault, Problem, TaskCall, TaskKind
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.tasks.api_key_validate import ApiKeyValidate
from ostinato.journeys.tasks.cache import CacheTask
from ostinato.journeys.tasks.http_call import HttpCall
from ostinato.journeys.tasks.kafka_publish import KafkaPublish
from ostinato.journeys.tasks.xml_decode import XmlDecode
from ostinato.model import Json


def standard_kinds(settings: JourneySettings | None = None) -> list[TaskKind]:
    """All of them. In place of one whose extra is not installed there is one that says so."""
    given = settings or JourneySettings()
    return [
        HttpCall(given),
        CacheTask(given),
        XmlDecode(),
        ApiKeyValidate(given),
        KafkaPublish(given),
        *_with_cryptography(given),
    ]


def _with_cryptography(settings: JourneySettings) -> list[TaskKind]:
    try:
        from ostinato.journeys.tasks.jwt_validate import JwtValidate
        from ostinato.journeys.tasks.mtls_validate import MtlsValidate
    except ImportError:
        return [Absent("jwtValidate", "auth"), Absent("mtlsValidate", "auth")]
    return [JwtValidate(settings), MtlsValidate(settings)]


@dataclass(slots=True)
class Absent:
    """A kind whose extra is not installed."""

    name: str
    extra: str
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        message = f"{self.name}:v{self.major} needs packages that are not installed"
        yield Fault("task-extra", ("kind",), message, f"install ostinato[{self.extra}]")

    async def run(self, call: TaskCall) -> Problem:
        detail = f"install ostinato[{self.extra}]"
        return Problem("TASK_EXTRA_MISSING", "The task cannot be run here", detail, internal=True)
