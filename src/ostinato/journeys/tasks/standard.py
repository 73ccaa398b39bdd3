"""List the task kinds and the expression languages that come with Ostinato."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ostinato.errors import install_hint
from ostinato.journeys.expressions.languages import languages
from ostinato.journeys.language import Definition
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.task_kind import Fault, Plugins, TaskCall, TaskKind, TaskProblem
from ostinato.journeys.tasks.cache import CacheTask
from ostinato.journeys.tasks.http.call import HttpCall
from ostinato.journeys.tasks.inbound.api_key import ApiKeyValidate
from ostinato.journeys.tasks.kafka_publish import KafkaPublish
from ostinato.journeys.tasks.schedule import ScheduleTask
from ostinato.journeys.tasks.xml_decode import XmlDecode
from ostinato.model import Json


def standard_plugins(settings: JourneySettings | None = None) -> Plugins:
    return Plugins(standard_kinds(settings), languages().values())


def standard_kinds(settings: JourneySettings | None = None) -> list[TaskKind]:
    """Return the task kinds that come with Ostinato. If the extra `auth` is not installed, the kinds `jwtValidate:v1`
    and `mtlsValidate:v1` are replaced by a `MissingExtra`."""
    settings = settings or JourneySettings()
    return [
        HttpCall(settings),
        CacheTask(settings),
        XmlDecode(),
        ApiKeyValidate(settings),
        KafkaPublish(settings),
        ScheduleTask(settings),
        *_with_cryptography(settings),
    ]


def _with_cryptography(settings: JourneySettings) -> list[TaskKind]:
    try:
        from ostinato.journeys.tasks.inbound.jwt import JwtValidate
        from ostinato.journeys.tasks.inbound.mtls import MtlsValidate
    except ImportError:
        return [MissingExtra("jwtValidate", "auth"), MissingExtra("mtlsValidate", "auth")]
    return [JwtValidate(settings), MtlsValidate(settings)]


@dataclass(slots=True)
class MissingExtra:
    """Replaces a task kind whose optional packages are not installed, and reports which extra to install."""

    name: str
    extra: str
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        message = f"{self.name}:v{self.major} needs packages that are not installed"
        yield Fault("task-extra", ("kind",), message, install_hint(self.extra))

    async def run(self, call: TaskCall) -> TaskProblem:
        detail = install_hint(self.extra)
        return TaskProblem("TASK_EXTRA_MISSING", "The task cannot be run here", detail, internal=True)
