"""What is wrong with the shape of one part keeps no rule from looking at the others, and no rule complains of what the
shape already explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ostinato.journeys.documents import JourneyDocument, read_document
from ostinato.journeys.problems import only_errors
from tests.unit.journeys.checks.cases import CASES, doc
from tests.unit.journeys.checks.checking import problems_in, problems_of

EXAMPLES = Path(__file__).parents[4] / "examples"
# What the reader says, of the journey and of tasks' settings.
SHAPE = ("shape-", "document-", "state-type", "task-kind", "mapper-", "expression-ref", "external-removed")

BROKEN = """\
apiVersion: v1
kind: Journey
metadata: {name: Broken, version: 0.1.0}
spec:
  start: frst
  timeout: 5
  execution: {maxDurationSec: 0, onTimeout: {errorCode: LATE}}
  access: {read: {guardRef: nobody}}
  subjourneys: {sub: {start: x, states: {x: {type: succeed, outputVr: y}}}}
  states:
    first: {type: task, task: {kind: httpCall:v1, method: FETCH, url: /items, timeoutMs: 0}, next: nowhere}
    second: {type: timr, timer: {duration: PT1M}, next: first}
    third: {type: timer, timer: {duration: 5m}, nxt: first}
    fourth: {type: transform, transform: {mapper: {lang: cel, expr: x}, target: {kind: var}, resultVar: 5}, next: gone}
    fifth: {type: choice, choices: [{when: {predicate: {lang: dataweave}}, next: six}], default: seventh}
    sixth: {type: subjourney, subjourney: {ref: subb, resultKind: all}, next: 7}
    seventh: {type: task, task: {kind: cache:v1, operation: get, key: {mapperRef: kye}, ttlSeconds: 0}, next: fourth}
"""


def test_shape_and_rules_are_told_together() -> None:
    assert [(one.code, one.line, one.column) for one in problems_in(BROKEN)] == [
        ("shape-pattern", 3, 18),
        ("graph-start", 5, 10),
        ("shape-unknown-field", 6, 3),
        ("shape-range", 7, 31),
        ("shape-missing", 7, 45),
        ("access-guard", 8, 29),
        ("shape-unknown-field", 9, 61),
        ("http-result", 11, 31),
        ("shape-enum", 11, 59),
        ("http-url", 11, 71),
        ("shape-range", 11, 90),
        ("graph-target", 11, 100),
        ("state-type", 12, 20),
        ("timer-literal", 13, 44),
        ("shape-unknown-field", 13, 49),
        ("expression-language", 14, 58),
        ("shape-type", 14, 105),
        ("graph-target", 14, 115),
        ("shape-missing", 15, 56),
        ("graph-target", 15, 82),
        ("subjourney-unknown", 16, 49),
        ("shape-enum", 16, 67),
        ("shape-type", 16, 79),
        ("cache-result", 17, 33),
        ("mapper-unknown", 17, 83),
        ("shape-range", 17, 101),
    ]


def test_what_the_text_may_not_hold_hides_nothing_else() -> None:
    text = doc("a: {type: timer, timer: *t, next: b}\nb: {type: succeed}\nb: {type: fail}\nc: &t {type: wait, next: d}")
    assert [(one.code, one.line) for one in only_errors(problems_in(text))] == [
        ("document-alias", 10),
        ("document-key-twice", 12),
        ("document-anchor", 13),
        ("shape-missing", 13),
        ("graph-target", 13),
    ]


@cache
def documents() -> list[JourneyDocument]:
    texts = [file.read_text() for file in EXAMPLES.glob("*.journey.yaml")] + [case.good for case in CASES]
    return list({str(one.value): one for one in map(read_document, texts)}.values())


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key != "schema":  # what is in a schema is no part of the language
            yield from _paths(item, (*path, key))


def _put(wrong: Any) -> Callable[[Any, Any], None]:
    def put(around: Any, key: Any) -> None:
        around[key] = wrong

    return put


def _leave_out(around: Any, key: Any) -> None:
    del around[key]


def _misspell(around: Any, key: Any) -> None:
    if isinstance(key, str):
        around[f"{key}q"] = around.pop(key)


@pytest.mark.parametrize(
    "change",
    [_put(5), _put([None]), _leave_out, _misspell],
    ids=["number", "list", "left out", "misspelt"],
)
def test_one_mistake_in_the_shape_brings_no_others(change: Callable[[Any, Any], None]) -> None:
    tried = set()
    for document in documents():
        before = {one.path for one in only_errors(problems_of(document))}  # what this engine lacks to run it
        for path in _paths(document.value):
            value = deepcopy(document.value)
            around = value
            for step in path[:-1]:
                around = around[step]
            place = (path, str(around))
            if place in tried:
                continue
            tried.add(place)
            change(around, path[-1])
            now = only_errors(problems_of(JourneyDocument(document.file, value, document.positions)))
            said = [one for one in now if one.path not in before]
            by_shape = [one for one in said if one.code.startswith(SHAPE)]
            assert not by_shape or said == by_shape, (path, value, [str(one) for one in said])
    assert len(tried) > 400
