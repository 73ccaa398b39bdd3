"""The journeys of the histories: one that asks again and again, and one that schedules itself."""

from __future__ import annotations

from ostinato.journeys.settings import JourneyLimits, JourneySettings
from ostinato.journeys.task_kind import Plugins
from ostinato.journeys.tasks.schedule import ScheduleTask
from tests.histories.faces import DIGEST, JOURNEY, STEP
from tests.histories.models import LATE
from tests.support.journey_parts import Python, Work, text

INPUTS = 3  # that the first journey takes
PATIENCE = 8  # seconds that it waits for each
RUNS = 3  # of a binding
PERIOD = 4  # seconds between them

TALK = text(
    f"""
    {STEP}:
      type: wait
      wait: {{channel: manual, input: {{schema: {{type: object}}}}, timeoutSec: {PATIENCE}, onTimeout: late}}
      next: note
    note:
      type: transform
      transform:
        mapper:
          lang: py
          expr: "{{'taken': context.get('taken', []) + [context['payload']['mark']]}}"
      next: think
    late:
      type: transform
      transform: {{mapper: {{lang: py, expr: "{{'taken': context.get('taken', []) + [{LATE}]}}"}}}}
      next: think
    think: {{type: task, task: {{kind: 'work:v1', seconds: 0.3}}, next: more}}
    more:
      type: choice
      choices: [{{when: {{predicate: {{lang: py, expr: "len(context['taken']) >= {INPUTS}"}}}}, next: done}}]
      default: {STEP}
    done: {{type: succeed}}
    """,
    start=STEP,
    name=JOURNEY,
)
_SCHEDULES = "".join(
    f"""
    {existing}:
      type: task
      task:
        kind: 'schedule:v1'
        start: tick
        interval: PT{PERIOD}S
        maxRuns: {RUNS}
        subjectId: {{mapper: {{lang: py, expr: "context['who']"}}}}
        context: {{mapper: {{lang: py, expr: "{{'mark': context['mark'], 'count': 0}}"}}}}
        onExisting: {existing}
      next: done"""
    for existing in ("fail", "upsert", "addAnother")
)
SCHEDULING = text(
    f"""
    which:
      type: choice
      choices:
        - {{when: {{predicate: {{lang: py, expr: "context['existing'] == 'upsert'"}}}}, next: upsert}}
        - {{when: {{predicate: {{lang: py, expr: "context['existing'] == 'addAnother'"}}}}, next: addAnother}}
      default: fail{_SCHEDULES}
    tick:
      type: transform
      transform:
        mapper: {{lang: py, expr: "{{'mark': context['mark'], 'count': context['count'] + 1}}"}}
      next: think
    think: {{type: task, task: {{kind: 'work:v1', seconds: 0.3}}, next: done}}
    done: {{type: succeed}}
    """,
    start="which",
    name=DIGEST,
)


def journey_plugins() -> Plugins:
    """A language that is Python, a task that takes a while, and a task that may schedule every few seconds."""
    often = JourneySettings(limits=JourneyLimits(min_interval_s=1))
    return Plugins([Work(), ScheduleTask(often)], [Python(), Python("dataweave")])
