"""`next()` against cronsim, croniter and APScheduler 3; a large spec; `describe()`.

Each contender walks the same stretch of time from 2026 on, feeding each answer back, as its users do:
cronsim and croniter by their iterators, APScheduler by its trigger.
"""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim

from bench.measure import Round, interleaved, machine, show
from ostinato import Spec, calendar, cron, during
from ostinato.when.instants import from_datetime

CASES = [
    ("*/5 * * * *", "UTC", 10, 30),
    ("0 9 * * 1-5", "Europe/Berlin", 10, 30),
    ("0 0 29 2 *", "UTC", 10, 20),
    ("30 2 * * *", "America/New_York", 10, 30),
]
START = datetime(2026, 1, 1, tzinfo=UTC)


def ours(spec: Spec, steps: int) -> Round:
    begin = from_datetime(START)
    compiled = spec.compiled

    def run() -> int:
        following, at = compiled.next, begin
        for _ in range(steps):
            time = following(at)
            assert time is not None
            at = time
        return steps

    return run


def by_cronsim(text: str, zone: tzinfo, steps: int) -> Round:
    def run() -> int:
        times = CronSim(text, START.astimezone(zone))
        for _ in range(steps):
            next(times)
        return steps

    return run


def by_croniter(text: str, zone: tzinfo, steps: int) -> Round:
    def run() -> int:
        times = croniter(text, START.astimezone(zone))
        for _ in range(steps):
            times.get_next(datetime)
        return steps

    return run


def by_apscheduler(text: str, zone: tzinfo, steps: int) -> Round:
    trigger = CronTrigger.from_crontab(text.replace("1-5", "mon-fri"), timezone=zone)

    def run() -> int:
        at = START.astimezone(zone)
        for _ in range(steps):
            at = trigger.get_next_fire_time(at, at)
        return steps

    return run


def large_spec() -> Spec:
    calendars = [calendar(hour=n % 24, minute=n, day_of_week="mon-fri", tz="Europe/Berlin") for n in range(50)]
    spec = calendars[0]
    for other in calendars[1:]:
        spec |= other
    return spec.without(*(during(month=1 + n % 12, day_of_month=1 + n) for n in range(20)))


def main() -> bool:
    show("== when: next(), calls per second; median of five interleaved rounds ==")
    show(machine("ostinato", "cronsim", "croniter", "apscheduler"))
    good = True
    for text, name, least_cronsim, least_croniter in CASES:
        zone: tzinfo = UTC if name == "UTC" else ZoneInfo(name)
        leap = "29 2" in text
        steps = 12 if leap else 2_000
        rates = interleaved(
            {
                # The same walk many times over, where a walk is too short to time.
                "ostinato": _repeat(ours(cron(text, tz=name), steps), 200 if leap else 10),
                "cronsim": _repeat(by_cronsim(text, zone, steps), 10 if leap else 1),
                "croniter": _repeat(by_croniter(text, zone, steps), 10 if leap else 1),
                "APScheduler 3": _repeat(by_apscheduler(text, zone, steps), 10 if leap else 1),
            }
        )
        mine = rates["ostinato"]
        show(f"\n{text}  {name}")
        for contender, rate in rates.items():
            ratio = "" if contender == "ostinato" else f"   ostinato is {mine / rate:6.1f} times as fast"
            show(f"  {contender:14} {rate:12,.0f}/s{ratio}")
        met = mine / rates["cronsim"] >= least_cronsim and mine / rates["croniter"] >= least_croniter
        show(f"  bar: {least_cronsim} × cronsim, {least_croniter} × croniter: {'met' if met else 'MISSED'}")
        good = good and met
    large = large_spec()
    rates = interleaved(
        {
            "next() of 50 calendars less 20 exclusions": ours(large, 2_000),
            "describe() of a cron string": _describe(cron("*/15 9-17 * * 1-5", tz="Europe/Berlin")),
            "describe() of 50 calendars": _describe(large, 20),
            "parse, check and compile a new cron string": _compile,
        }
    )
    show()
    for what, rate in rates.items():
        show(f"  {what:44} {rate:10,.0f}/s")
    return good


def _repeat(round: Round, count: int) -> Round:
    return lambda: sum(round() for _ in range(count))


def _describe(spec: Spec, times: int = 500) -> Round:
    def run() -> int:
        for _ in range(times):
            spec.describe()
        return times

    return run


_fresh = iter(range(10**9))


def _compile() -> int:
    for _ in range(200):
        number = next(_fresh)
        cron(f"{number % 60} {number // 60 % 24} {number // 1440 % 28 + 1} * {number // 40320 % 7}", tz="Europe/Berlin")
    return 200
