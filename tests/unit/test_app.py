"""The app's settings and methods, and what it says to near misses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest

from ostinato import Limit, Ostinato, OstinatoError, Retry, SpecError, cron, every
from ostinato.testing import World


async def work(a: int = 1) -> None: ...


@pytest.mark.parametrize(
    "settings", [{"threads": "4"}, {"concurrency": 1.5}, {"namespace": ""}, {"queues": [5]}, {"queues": ""}]
)
def test_settings_of_an_app(settings: dict[str, Any]) -> None:
    with pytest.raises(OstinatoError, match=next(iter(settings)).removesuffix("s")):
        Ostinato("sqlite:///never-opened.db", **settings)


def test_one_text_is_one_queue_and_one_file() -> None:
    app = Ostinato("sqlite:///never-opened.db", queues="default", journeys="order.yaml")
    assert app.settings.queues == ("default",)
    assert app._parts["journeys"]._sources == ("order.yaml",)  # type: ignore[attr-defined]


async def test_calls(world: World) -> None:
    world.app.job(work)
    await world.up()
    for limit in (0, -1, "5"):
        with pytest.raises(OstinatoError, match="limit"):
            await world.app.runs(limit=limit)  # type: ignore[arg-type]
    with pytest.raises(OstinatoError, match="the id"):
        await world.app.start(work, id="\ud800")


@pytest.fixture
def app() -> Any:
    return Ostinato("sqlite:///:memory:")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda app: app.job("report"), r"write @app.job\(name='report'\)"),
        (lambda app: app.job(timeot="5s"), r"@app\.job has no option 'timeot'; did you mean 'timeout'\?"),
        (lambda app: app.job(at_most_once="no")(print), "at_most_once 'no' is neither True nor False"),
        (
            lambda app: app.schedule(lambda: None),
            r"@app\.schedule needs a spec, not <function .*: write @app\.schedule",
        ),
        (lambda app: app.schedule(timedelta(minutes=5)), r"@app\.schedule needs a spec, not .*'every 15m'"),
        (lambda app: Ostinato(cast(Any, 5)), "the store 5 is no URL; write 'sqlite:///jobs.db'"),
        (lambda app: every(), "takes a length, as one text or by its parts; write every"),
        (lambda app: every("5m", minutes=5), "takes a length, as one text or by its parts"),
        (lambda app: every("5 minutes"), "write '5m'"),
        (lambda app: every(-5), "every -5 is not a length of time; a number is seconds, from 0"),
        (lambda app: every(float("nan")), "is not a length of time"),
        (
            lambda app: cast(Any, cron)("0 9 * * *", dilect="cron"),
            r"cron\(\) has no 'dilect'; did you mean 'dialect'\?",
        ),
        (lambda app: Retry(3, delay="-1s"), "retry delay '-1s' is not a duration; a length must be zero or more"),
        (lambda app: Retry(3, delay=-1), "retry delay .* is negative"),
        (lambda app: Retry(True), "retry attempts True is not a whole number from 1"),
        (lambda app: Retry(2, factor=0.5), "retry factor 0.5 is not a number from 1"),
        (lambda app: Retry(2, jitter=2), "retry jitter 2 is not a number from 0 to 1"),
        (lambda app: Limit("k", per=0), "too short; the minimum is one millisecond"),
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


@pytest.mark.parametrize(
    ("of", "guess", "meant"),
    [
        ("schedules", "remove", "delete"),
        ("schedules", "run_now", "trigger"),
        ("schedules", "find", "list"),
        ("app", "serve", "run"),
        ("app", "task", "job"),
        ("app", "add_job", "job"),
    ],
)
def test_names_of_other_schedulers_lead_to_ours(app: Ostinato, of: str, guess: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"has no '{guess}'; did you mean '{meant}'"):
        getattr(app.schedules if of == "schedules" else app, guess)


def test_options_of_other_schedulers_lead_to_ours(app: Ostinato) -> None:
    for option in ("retries", "max_retries"):
        with pytest.raises(OstinatoError, match=f"has no option '{option}'; did you mean 'retry'"):
            cast(Any, app).job(**{option: 3})
    for word in ("timezone", "zone"):
        with pytest.raises(SpecError, match=rf"cron\(\) has no '{word}'; did you mean 'tz'"):
            cast(Any, cron)("0 9 * * *", **{word: "Europe/Berlin"})


@pytest.mark.parametrize(
    ("setting", "hint"),
    [
        ("concurency", "did you mean 'concurrency'?"),
        ("stor", "did you mean 'store'?"),
        ("journey_setings", "did you mean 'journey_settings'?"),
        ("frobnicate", "there are store, queues, concurrency, threads, "),
    ],
)
def test_a_misspelt_setting_is_answered_with_the_right_one(setting: str, hint: str) -> None:
    with pytest.raises(TypeError) as refused:
        Ostinato("sqlite:///never-opened.db", **{setting: 5})  # type: ignore[arg-type]
    assert str(refused.value).startswith(f"Ostinato(…) has no setting {setting!r}; {hint}")


def test_a_misspelt_setting_of_configure_is_answered_with_the_right_one() -> None:
    app = Ostinato("sqlite:///never-opened.db")
    with pytest.raises(OstinatoError, match=r"no setting 'concurency'; did you mean 'concurrency'\?"):
        app.configure(concurency=5)
