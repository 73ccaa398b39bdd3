"""What people guess works, or says what to write."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

import ostinato
from ostinato import Limit, Ostinato, OstinatoError, Retry, SpecError, cron, every


@pytest.fixture
def app() -> Any:
    return Ostinato("sqlite:///:memory:")


def test_the_decorator_needs_no_parentheses(app: Ostinato) -> None:
    @app.job
    async def plain() -> None: ...

    @app.job()
    async def called() -> None: ...

    assert app._name_of(plain) == "plain"
    assert app._name_of(called) == "called"


def test_what_type_hints_need_is_in_the_package() -> None:
    for name in ("Client", "Context", "Event", "RunHandle", "SyncClient", "SyncContext"):
        assert getattr(ostinato, name).__name__ == name


@pytest.mark.parametrize(
    ("given", "same"),
    [
        (lambda: every(minutes=5), "5m"),
        (lambda: every(5), "5s"),
        (lambda: every(timedelta(hours=2)), "2h"),
        (lambda: every(hours=1, minutes=30), "1h30m"),
    ],
)
def test_an_interval_may_be_written_in_several_ways(given: Any, same: str) -> None:
    assert given() == every(same)


def test_a_cron_text_may_stand_with_its_zone(app: Ostinato) -> None:
    @app.schedule("0 9 * * *", tz="Europe/Berlin")
    async def report() -> None: ...

    (declaration,) = app._declarations.found
    assert declaration.given["spec"] == cron("0 9 * * *", tz="Europe/Berlin")
    with pytest.raises(OstinatoError, match=r"tz 'Asia/Tokyo' belongs into the spec: cron\(…, tz='Asia/Tokyo'\)"):
        app.schedule(every("1h"), tz="Asia/Tokyo")


def test_lengths_are_texts_timedeltas_or_seconds() -> None:
    assert Retry(3, delay=5) == Retry(3, delay="5s") == Retry(3, delay=timedelta(seconds=5))
    assert Retry(3, delay=5).backoff(1, 0.0) == 5_000_000
    assert Limit("k", rate=1, per=60) == Limit("k", rate=1, per="1m")
    assert Retry.from_stored(Retry(2, delay="1.5s").as_stored()) == Retry(2, delay="1.5s")
    assert Limit.from_stored(Limit("k", rate=2, per="10ms").as_stored()) == Limit("k", rate=2, per="10ms")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda app: app.job("report"), r"write @app.job\(name='report'\)"),
        (lambda app: app.job(timeot="5s"), r"@app\.job has no option 'timeot'; did you mean 'timeout'\?"),
        (lambda app: every(), "takes a length, as one text or by its parts; write every"),
        (lambda app: every("5m", minutes=5), "takes a length, as one text or by its parts"),
        (lambda app: every("5 minutes"), "write '5m'"),
        (lambda app: every(-5), "every -5 is not a length of time; a number is seconds, from 0"),
        (lambda app: every(float("nan")), "is not a length of time"),
        (
            lambda app: cast(Any, cron)("0 9 * * *", dilect="cron"),
            r"cron\(\) has no 'dilect'; did you mean 'dialect'\?",
        ),
        (lambda app: Retry(3, delay="-1s"), "retry delay '-1s' is not a duration; a length is zero or more"),
        (lambda app: Retry(3, delay=-1), "retry delay .* is negative"),
        (lambda app: Retry(True), "retry attempts True is not a whole number from 1"),
        (lambda app: Retry(2, factor=0.5), "retry factor 0.5 is not a number from 1"),
        (lambda app: Retry(2, jitter=2), "retry jitter 2 is not a number from 0 to 1"),
        (lambda app: Limit("k", per=0), "too short; a millisecond is the least"),
    ],
)
def test_a_wrong_guess_is_told_what_to_write(app: Ostinato, wrong: Any, words: str) -> None:
    with pytest.raises((OstinatoError, SpecError), match=words):
        wrong(app)


def test_a_missing_method_names_the_one_that_was_likely_meant(app: Ostinato) -> None:
    with pytest.raises(AttributeError, match=r"^app\.schedules has no 'creat'; did you mean 'create'\?$"):
        cast(Any, app.schedules).creat("report")
    with pytest.raises(AttributeError, match=r"^the app has no 'strat'; did you mean 'start'\?$"):
        cast(Any, app).strat("report")
