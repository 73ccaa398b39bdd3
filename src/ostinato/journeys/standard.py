"""Everything that comes with Ostinato for journeys: the task kinds and the expression languages."""

from __future__ import annotations

from ostinato.journeys.expressions.languages import languages
from ostinato.journeys.plugins import Plugins
from ostinato.journeys.scheduling import ScheduleTask
from ostinato.journeys.settings import JourneySettings
from ostinato.journeys.tasks import standard_kinds


def standard_plugins(settings: JourneySettings | None = None) -> Plugins:
    return Plugins([*standard_kinds(settings), ScheduleTask(settings or JourneySettings())], languages().values())
