"""Files of schedules: what is wrong is said with its line and column, all of it at once; what is written is read back
the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato import FileError, OstinatoError, Spec, calendar, cron, dump_schedules, every, manual, once, read_schedules
from ostinato import parse_schedules as parse
from ostinato.documents import Place, read_document
from ostinato.schedules.actions import Maker
from ostinato.schedules.declared.files import checked_drafts
from ostinato.schedules.declared.plan import definition
from ostinato.schedules.model import CatchUp, Overlap, Schedule
from ostinato.schedules.validation import DefinitionChecks, define, same_definition
from ostinato.when.instants import SECOND

CHECKS = DefinitionChecks(Maker(lambda _: None), lambda function: function.__name__)


def draft(name: str, *, origin: str | None = None, paused: bool = False, **options: Any) -> Schedule:
    base = Schedule("id", name, manual(), origin=origin, paused=1 if paused else None)
    return define(base, options, CHECKS)


def read(text: str, file: str = "schedules.yaml") -> list[Schedule]:
    return checked_drafts(parse(text, file).each_draft(draft))


def wrong(text: str, file: str = "s.yaml") -> list[str]:
    with pytest.raises(FileError) as refused:
        parse(text, file)
    return [str(one) for one in refused.value.problems]


@pytest.mark.parametrize("key", ["tz", "timezone", "zone"])
def test_a_zone_beside_the_spec_is_refused_with_its_place(key: str) -> None:
    (problem,) = wrong(f"schedules:\n  a:\n    spec: 0 9 * * *\n    action: x\n    {key}: UTC\n")
    assert problem.endswith(
        f"""a schedule has no '{key}'; the time zone belongs to the spec: """
        """{"cron": "0 9 * * *", "tz": "Europe/Berlin"}"""
    )


NIGHTLY = """\
schedules:
  nightly-report:
    spec: {cron: ["0 2 * * *"], tz: Europe/Berlin}
    action: {job: report, input: {kind: nightly}, timeout: 10m}
    overlap: buffer_one
    catchup: 1h
    pause_after_failures: 3
    tags: [reports]
"""


def test_a_file_says_what_code_would_say() -> None:
    (schedule,) = read(NIGHTLY)
    assert schedule.name == "nightly-report"
    assert schedule.spec == cron("0 2 * * *", tz="Europe/Berlin")
    assert (schedule.action.job, schedule.action.input, schedule.action.options) == (
        "report",
        {"kind": "nightly"},
        {"timeout": "10m"},
    )
    assert schedule.policies.overlap is Overlap.BUFFER_ONE
    assert schedule.policies.catchup == CatchUp("all", window=3600 * SECOND)
    assert schedule.policies.pause_after_failures == 3
    assert schedule.tags == ("reports",)
    assert schedule.origin == "file:schedules.yaml"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ('"0 2 * * *"', cron("0 2 * * *")),
        ("0 2 * * *", cron("0 2 * * *")),
        ("'@daily'", cron("@daily")),
        ("every 15m", every("15m")),
        ("2026-03-01T09:00:00Z", once("2026-03-01T09:00Z")),
        ("{}", manual()),
        ("{times: [2026-03-01T09:00:00Z]}", once("2026-03-01T09:00Z")),
        ("{calendars: {hour: 09, day_of_week: mon-fri}}", calendar(hour=9, day_of_week="mon-fri")),
        ("{cron: '0 9 * * *', exclude: {dates: [2026-12-25]}}", cron("0 9 * * *", exclude="2026-12-25")),
    ],
)
def test_a_spec_may_be_short(written: str, meant: Spec) -> None:
    (schedule,) = read(f"schedules:\n  s:\n    spec: {written}\n    action: report\n")
    assert schedule.spec == meant


def test_every_mistake_is_told_in_its_place() -> None:
    text = """\
schedules:
  a:
    spec: {cron: ["0 2 * * *", "0 25 * * *"], tz: Europe/Berln}
    action: {job: report, tmeout: 10m, retry: {attempts: x}}
    overlap: bufer_one
    catchup: 1x
    tags: reports
  b:
    spec: {crn: "0 2 * * *"}
    actoin: report
  c: {spec: every 5 minutes, action: {}, at_most_once: yes}
  d: report
  e:
    action: {job: 5, input: [1]}
    pause_after_failures: 0
shedules: 3
"""
    assert wrong(text) == [
        "s.yaml:3:32  schedule 'a': spec: cron[1]: hour 25 is out of range 0–23 in '0 25 * * *'",
        "s.yaml:3:51  schedule 'a': spec: tz 'Europe/Berln' is not a time zone; did you mean 'Europe/Berlin'?",
        "s.yaml:4:27  schedule 'a': an action has no 'tmeout'; did you mean 'timeout'?",
        "s.yaml:4:47  schedule 'a': retry attempts 'x' is not a whole number from 1 to 1,000,000,000",
        "s.yaml:5:14  schedule 'a': overlap 'bufer_one' is unknown; did you mean 'buffer_one'?",
        "s.yaml:6:14  schedule 'a': catchup '1x' is unknown; use 'skip', 'latest', 'all', or a window such as '1h'",
        "s.yaml:7:11  schedule 'a': tags 'reports' are not a list of texts",
        "s.yaml:9:12  schedule 'b': spec: 'crn' is not part of a spec; did you mean 'cron'?",
        "s.yaml:10:5  schedule 'b': a schedule has no 'actoin'; did you mean 'action'?",
        "s.yaml:11:13  schedule 'c': spec: 'every 5 minutes' is not a spec; write 'every 5m'",
        "s.yaml:11:38  schedule 'c': the action names no target; "
        "write {job: report}, {http: …}, {journey: …} or {function: …}",
        "s.yaml:11:56  schedule 'c': at_most_once 'yes' is neither true nor false",
        "s.yaml:12:6  schedule 'd': 'report' is not an object with spec and action",
        "s.yaml:13:3  schedule 'e': it has no spec; write spec: {} for one that runs only when it is triggered",
        "s.yaml:14:19  schedule 'e': job 5 is not a job's name; put it in quotes",
        "s.yaml:14:29  schedule 'e': input [1] is not an object with names",
        "s.yaml:15:27  schedule 'e': pause_after_failures 0 is not a whole number from 1 to 1,000,000,000",
        "s.yaml:16:1  'shedules' is not part of a file of schedules; did you mean 'schedules'?",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "a: [",
            "s.yaml:1:5  this is not YAML: while parsing a flow node: "
            "expected the node content, but found '<stream end>'",
        ),
        (
            "schedules:\n\ta: 1",
            "s.yaml:2:1  this is not YAML: while scanning for the next token: "
            "found character '\\t' that cannot start any token",
        ),
        (
            "schedules: {}\n---\nschedules: {}\n",
            "s.yaml:2:1  this is not YAML: expected a single document in the stream: but found another document",
        ),
        ("schedules: *a\n", "s.yaml:1:12  this is not YAML: found undefined alias 'a'"),
        ("schedules:\n", "s.yaml:1:1  schedules None is not an object; write {} for none"),
        (
            "schedules:\n  a: &a {spec: {}, action: {job: x, input: {i: *a}}}\n",
            "s.yaml:2:6  its aliases or its depth have no end",
        ),
        (
            "schedules:\n  a: {spec: {}, action: x, memo: !secret y}\n",
            "s.yaml:2:34  schedule 'a': the tag !secret is unknown; leave it out",
        ),
        (
            "schedules:\n  a: {spec: {}, action: x, memo: .nan}\n",
            "s.yaml:2:34  schedule 'a': '.nan' is not a number that JSON knows; put a text in quotes",
        ),
        (
            "schedules:\n  ' a': {spec: {}, action: x}\n",
            "s.yaml:2:3  the schedule's name ' a' is not a text of 1 to 512 characters without spaces at its ends",
        ),
    ],
)
def test_what_cannot_be_read_is_told_in_its_place(text: str, words: str) -> None:
    assert wrong(text) == [words]


def test_a_key_that_stands_twice_is_refused_wherever_it_is() -> None:
    text = """\
schedules:
  a: {spec: {}, action: x}
  b:
    spec: {}
    action: {job: x, job: y}
  a: {spec: {}, action: x}
"""
    assert wrong(text) == [
        "s.yaml:5:22  schedule 'b': 'job' occurs twice, first in line 5; leave one out",
        "s.yaml:6:3  'a' occurs twice, first in line 2; leave one out",
    ]
    as_json = '{"schedules": {\n\t"a": {"spec": {}, "action": "x"},\n\t"a": {"spec": {}, "action": "x"}}}'
    assert wrong(as_json, "s.json") == ["s.json:3:2  'a' occurs twice, first in line 2; leave one out"]


def test_an_empty_file_wants_nothing_only_if_it_says_so() -> None:
    assert read("schedules: {}") == []
    (problem,) = wrong("")
    assert problem.startswith(
        "s.yaml:1:1  a file of schedules is an object with the key 'schedules'; write\nschedules:"
    )


def test_what_several_schedules_share_is_said_once() -> None:
    text = """\
x-usual: &usual
  action: {job: report, timeout: 10m}
  overlap: buffer_all
schedules:
  a:
    <<: *usual
    spec: 0 1 * * *
    overlap: skip
  b:
    spec: 0 2 * * *
    <<: *usual
"""
    a, b = read(text)
    assert [a.action.options, a.policies.overlap] == [{"timeout": "10m"}, Overlap.SKIP]
    assert [b.action.options, b.policies.overlap] == [{"timeout": "10m"}, Overlap.BUFFER_ALL]
    # A mistake in a shared part is reported at its own place.
    broken = text.replace("buffer_all", "bufer_all")
    assert wrong(broken) == ["s.yaml:3:12  schedule 'b': overlap 'bufer_all' is unknown; did you mean 'buffer_all'?"]


def test_aliases_of_aliases_come_to_an_end() -> None:
    lines = ["x-0: &a0 [1, 2]"]
    lines += [f"x-{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (problem,) = wrong("\n".join([*lines, "schedules: {}"]))
    assert problem.endswith("its aliases or its depth have no end")


def test_many_schedules_share_their_defaults() -> None:
    shared = ", ".join(f"n{number}: {number}" for number in range(60))
    lines = [f"x-usual: &usual {{action: {{job: note, input: {{{shared}}}}}}}", "schedules:"]
    for number in range(400):  # which repeat more than 24,000 values
        lines += [f"  s{number}:", "    <<: *usual", "    spec: 0 1 * * *"]
    assert len(read("\n".join(lines))) == 400


def test_json_of_the_same_shape_is_read_too() -> None:
    whole = {"schedules": {"a": {"spec": "0 2 * * *", "action": {"job": "x", "input": {"smile": "😀"}}}}}
    (schedule,) = read(json.dumps(whole, indent="\t"), "s.json")
    assert schedule.action.input == {"smile": "😀"}
    assert wrong('{"schedules": {]}', "s.json") == [
        "s.json:1:16  this is not JSON: Expecting property name enclosed in double quotes"
    ]
    assert wrong(json.dumps({"schedules": {"a": {"spec": "0 2 * *", "action": "x"}}}, indent=2), "s.json") == [
        "s.json:4:15  schedule 'a': spec: '0 2 * *' has 4 fields; a cron string has 5 (minute hour day month weekday), "
        "or 6 with the second first"
    ]


def test_a_file_is_known_by_its_name_or_by_the_one_given(tmp_path: Path) -> None:
    file = tmp_path / "nightly.yaml"
    file.write_text(NIGHTLY, encoding="utf-8-sig")
    assert read_schedules(file).origin == "file:nightly.yaml"
    assert read_schedules(file, name="reports").origin == "file:reports"
    with pytest.raises(OstinatoError, match="cannot be read: No such file"):
        read_schedules(tmp_path / "other.yaml")
    file.write_bytes(b"schedules: \xff")
    with pytest.raises(OstinatoError, match="is not UTF-8"):
        read_schedules(file)


def test_what_jobs_say_about_their_input_is_told_in_its_place() -> None:
    def picky(name: str, **options: Any) -> Schedule:
        raise OstinatoError("job 'report': missing a required argument: 'who'; it takes who")

    with pytest.raises(FileError, match=r"^schedules.yaml:4:13  schedule 'nightly-report': job 'report': missing"):
        checked_drafts(parse(NIGHTLY).each_draft(picky))


def test_places_are_those_of_editors() -> None:
    document = read_document("a:\n  - b: ü\n    c: 1\n", "x")
    assert document.value == {"a": [{"b": "ü", "c": 1}]}
    assert document.positions.place(("a", 0, "c")) == Place(3, 8)
    assert document.positions.place(("a", 0, "c"), key=True) == Place(3, 5)
    assert document.positions.place(("a", 0, "nothing")) == Place(2, 5)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
NAMES = TEXTS.filter(lambda text: text.strip() == text not in ("", ".", ".."))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=3)
ZONES = st.sampled_from(["", "Europe/Berlin", "America/New_York", "UTC"])
JITTERS = st.sampled_from(["PT0S", "30s", "1.5s", "1h"])
EXCLUDED = st.lists(st.sampled_from(["2026-12-25", "2027-01-01"]), max_size=2)
SPECS = st.one_of(
    st.just(manual()),
    st.builds(
        lambda texts, tz, dst, jitter, exclude: cron(*texts, tz=tz, dst=dst, jitter=jitter, exclude=exclude),
        st.lists(
            st.sampled_from(["0 9 * * 1-5", "@daily", "*/5 * * * *", "0 0 LW * *", "30 2 13 * fri"]),
            min_size=1,
            max_size=3,
        ),
        ZONES,
        st.sampled_from([None, "cron", "wall"]),
        JITTERS,
        EXCLUDED,
    ),
    st.builds(lambda tz: cron("0 0 13 * 5 # odd", "@every 5m", tz=tz, dialect="temporal"), ZONES),
    st.builds(
        lambda n, phase, jitter: every(f"{n + 60}s", phase=f"{phase}s", jitter=jitter),
        st.integers(0, 10**7),
        st.integers(0, 59),
        JITTERS,
    ),
    st.builds(
        lambda tz, hour, day: calendar(hour=hour, day_of_week=day, tz=tz, comment="with: a # comment"),
        ZONES,
        st.integers(0, 23),
        st.sampled_from(["*", "mon-fri", "5#2"]),
    ),
    st.builds(lambda n: once(f"2026-03-{n:02d}T09:00:00.5Z", f"2027-03-{n:02d}T09:00Z"), st.integers(1, 31)),
    st.just(every("P1M", anchor="2026-01-31T09:00Z", end="2030-01-01T00:00Z")),
)
COUNTS = st.none() | st.integers(1, 10**6)
CATCHUPS = st.one_of(
    st.sampled_from(["skip", "latest", "all", "1h", "36h", "90s", "0s"]),
    st.builds(
        CatchUp,
        st.sampled_from(["skip", "latest", "all"]),
        st.none() | st.integers(0, 10**15),
        COUNTS,
        st.integers(1, 1000),
    ),
)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "queue": NAMES,
        "priority": st.integers(-9, 9),
        "retry": st.sampled_from([3, {"attempts": 2, "delay": "5s"}]),
        "timeout": st.sampled_from(["10m", 30, 1.5]),
        "at_most_once": st.booleans(),
        "concurrency": st.sampled_from([3, {"key": "k", "rate": 5, "per": "1m"}]),
        "serial_key": NAMES.filter(lambda text: "{" not in text),
    },
)
SCHEDULES = st.builds(
    lambda name, spec, job, input, options, rest: draft(name, spec=spec, action=job, input=input, **options, **rest),
    NAMES,
    SPECS,
    NAMES,
    OBJECTS,
    OPTIONS,
    st.fixed_dictionaries(
        {"overlap": st.sampled_from(Overlap), "catchup": CATCHUPS},
        optional={
            "pause_after_failures": COUNTS,
            "max_buffer": COUNTS,
            "keep": COUNTS,
            "remaining": st.none() | st.integers(0, 99),
            "notes": TEXTS,
            "memo": JSON,
            "tags": st.lists(NAMES, max_size=3),
            "attributes": OBJECTS,
            "paused": st.booleans(),
        },
    ),
)


@settings(deadline=None)
@given(st.lists(SCHEDULES, max_size=3, unique_by=lambda one: one.name), st.sampled_from(["yaml", "json"]))
def test_what_is_exported_is_read_back_the_same(schedules: list[Schedule], form: str) -> None:
    text = dump_schedules(schedules, form=form)
    back = read(text, f"s.{form}")
    assert [one.name for one in back] == [one.name for one in schedules]
    for before, after in zip(schedules, back, strict=True):
        assert definition(after) == definition(before), text
        assert same_definition(after, before)
        assert (after.remaining, after.notes, bool(after.paused)) == (
            before.remaining,
            before.notes,
            bool(before.paused),
        )
    assert dump_schedules(back, form=form) == text
