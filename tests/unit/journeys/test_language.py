"""A document becomes a definition, or says everything that is wrong with its shape."""

from __future__ import annotations

import json

import pytest

from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Expression, expressions, read
from ostinato.journeys.language.states import Parallel, Task, Timer, Transform, Wait
from ostinato.journeys.tasks.standard import standard_kinds
from tests.support.journey_documents import journey, text

EVERYTHING = """
subjourneys:
  price:
    input: {schema: {type: object}}
    start: done
    states: {done: {type: succeed, outputVar: total}}
apis: {users: {openApiRef: apis/users.openapi.yaml}}
input: {schema: {type: object}}
output: {schema: {type: object}, response: {outputVar: shown, schema: {type: object}}}
context: {schema: {}}
defaults: {http: {timeoutMs: 500, headers: {Accept: application/json}}, tasks: {resiliencePolicyRef: std}}
platform: {config: {baseUrl: {type: string, required: true, description: where}}}
execution: {maxDurationSec: 60, onTimeout: {errorCode: LATE, reason: too late}}
compensation:
  mode: sync
  alsoFor: [{when: {predicate: {lang: dataweave, expr: output.ok}}}, {}]
  start: undo
  states: {undo: {type: succeed}}
httpSurface: {links: {enabled: false}}
lifecycle: {cancellable: false, startMode: async}
metadata: {bindings: {tags: {fromHeaders: [{header: X-Channel}]}, attributes: {orderId: {path: order.id}}}}
mappers: {whole: {lang: dataweave, expr: context}}
errors: {canonicalFormat: rfc9457, normalisers: {x: {mapperRef: whole}}, envelope: {format: custom, mapperRef: whole}}
policies:
  httpResilience: {definitions: {std: {maxAttempts: 3, retryOn: [HTTP_5XX], backoff: {kind: exponential}}}}
  httpClientAuth: {definitions: {b: {kind: bearerStatic, tokenRef: "secret://t"}}}
bindings: {http: {start: {headersToContext: {X-A: a}, headersPassthrough: [{from: A, to: B}]}, steps: {w: {}}}, cli: {}}
outcomes: {good: {when: {phase: SUCCEEDED}}}
cookies: {jar: {domains: [{pattern: .example.com}]}, returnToClient: {mode: filtered, include: {names: [sid]}}}
access: {read: {guardRef: price}}
"""
STATES = """
a:
  type: task
  task: {kind: cache:v1, operation: get, key: {mapperRef: whole}, resultVar: hit}
  next: t
t: {type: transform, transform: {mapperRef: whole, target: {kind: var}, resultVar: copy}, next: w}
w:
  type: wait
  wait: {channel: manual, input: {schema: {type: object}}, timeoutSec: 10, onTimeout: f}
  next: z
z: {type: timer, timer: {duration: {mapper: {lang: dataweave, expr: context.pause}}}, next: p}
p:
  type: parallel
  parallel:
    branches:
      - {name: one, start: x, states: {x: {type: succeed}}}
      - {name: two, start: x, states: {x: {type: fail, errorCode: E, reason: r}}}
    join: {strategy: anyOf, errorPolicy: ignoreErrors}
  next: s
s: {type: subjourney, subjourney: {ref: price, input: {mapperRef: whole}, onFailure: {behavior: capture}}, next: f}
f: {type: fail, errorCode: E, reason: r}
"""


def test_the_whole_language_is_read() -> None:
    definition = journey(STATES, spec=EVERYTHING)
    spec, states = definition.spec, definition.spec.states
    assert spec.execution
    assert spec.execution.max_duration_s == 60
    assert spec.metadata.bindings.attributes.from_payload["orderId"].path == "order.id"
    assert spec.errors.normalisers["x"] == spec.mappers["whole"] == Expression("dataweave", "context")
    assert spec.bindings.http.start.headers_passthrough[0].to_header == "B"
    task, transform, wait, timer, split = (states[id] for id in "atwzp")
    assert isinstance(task, Task)
    assert task.plugin == ("cache", 1)
    assert task.settings["key"] == {"mapper": {"lang": "dataweave", "expr": "context"}}
    assert list(expressions(task.settings)) == [Expression("dataweave", "context")]
    assert isinstance(transform, Transform)
    assert transform.transform.mapper.path == ("spec", "mappers", "whole")
    assert isinstance(wait, Wait)
    assert wait.external.on_timeout == "f"
    assert isinstance(timer, Timer)
    assert timer.timer.duration == Expression("dataweave", "context.pause")
    assert isinstance(split, Parallel)
    branch = split.parallel.branches[1]
    assert branch.path == ("spec", "states", "p", "parallel", "branches", 1)
    for graph in definition.graphs():
        assert definition.graph(graph.path) is graph


@pytest.mark.parametrize(
    ("states", "spec", "code", "state", "words"),
    [
        ("a: {type: loop}", "", "state-type", "a", "loop"),
        ("a: {type: suceed}", "", "state-type", "a", "Did you mean 'succeed'?"),
        ("a: {type: fail, errorCode: E}", "", "shape-missing", "a", "'reason' is missing"),
        ("a: {type: fail, errorCode: 5, reason: r}", "", "shape-type", "a", 'Write "5"'),
        ("a: {type: succeed, outptVar: x}", "", "shape-unknown-field", "a", "outputVar"),
        ("a: {type: succeed, outputVar: a.b}", "", "shape-pattern", "a", "a.b"),
        ("a: {type: task, task: {kind: httpCall}, next: a}", "", "task-kind", "a", "httpCall:v1"),
        ("a: {type: task, task: {kind: x:v0}, next: a}", "", "task-kind", "a", "x:v0"),
        ("a: {type: task, task: {kind: x:v1}}", "", "shape-missing", "a", "'next'"),
        ("a: {type: choice, choices: []}", "", "shape-empty", "a", "choices"),
        ("a: {type: transform, transform: {mapperRef: m}, next: a}", "", "mapper-unknown", "a", "'m'"),
        ("a: {type: timer, timer: {duration: 5}, next: a}", "", "shape-type", "a", "duration"),
        ("a: {type: wait, wait: {channel: timer, input: {schema: {}}}, next: a}", "", "shape-enum", "a", "manual"),
        ("a: {type: webhook, webhook: {input: {schema: {}}, on: []}, next: a}", "", "external-removed", "a", "choice"),
        ("a: {type: succeed}", "schedule: {}", "shape-unknown-field", None, "schedule"),
        ("a: {type: succeed}", "execution: {maxDurationSec: 0}", "shape-range", None, "at least 1"),
        (
            "a: {type: wait, wait: {channel: manual, input: {schema: {}}, timeoutSec: 1000000000000000000}, next: a}",
            "",
            "shape-range",
            "a",
            "at most 31,536,000,000",
        ),
        (
            "a: {type: succeed}",
            "execution: {maxDurationSec: 1000000000000000}",
            "shape-range",
            None,
            "at most 31,536,000,000",
        ),
        ("a: {type: succeed}", "input: {schema: {maximum: 100000000000000000000}}", "document-number", None, "64 bits"),
        (
            "a: {type: succeed}",
            "policies: {httpResilience: {default: d, definitions: {d: {backoff: {factor: 1e9}}}}}",
            "shape-range",
            None,
            "at most 1,000",
        ),
        ("a: {type: succeed}", "mappers: {m: {lang: dataweave}}", "shape-missing", None, "'expr'"),
        ("a: {type: succeed}", "mappers: {m: {lang: dw, exprRef: x}}", "expression-ref", None, "Write expr"),
        ("{}", "", "shape-empty", None, "states"),
    ],
)
def test_what_has_not_the_shape_says_where_and_what_would_be_right(
    states: str, spec: str, code: str, state: str | None, words: str
) -> None:
    definition, problems = read(read_document(text(states, spec=spec)))
    assert definition is None
    matching = [one for one in problems if one.code == code]
    assert [one.state for one in matching] == [state]
    assert words in str(matching[0])
    assert matching[0].line > 6


def test_all_that_is_wrong_is_said_at_once_in_the_order_of_the_lines() -> None:
    bad = text("a: {type: loop}\nb: {type: fail}", kind="Workflow").replace("0.1.0", "one")
    problems = read(read_document(bad))[1]
    assert [one.code for one in problems] == [
        "shape-enum",
        "shape-pattern",
        "state-type",
        "shape-missing",
        "shape-missing",
    ]
    assert [one.line for one in problems] == sorted(one.line for one in problems)


def test_what_was_once_in_the_language_is_a_warning() -> None:
    wait = "a: {type: wait, wait: {channel: manual, input: {schema: {}}}, default: b}\nb: {type: succeed}"
    definition, problems = read(read_document(text(wait, spec="resources: {}")))
    assert definition is not None
    assert [one.code for one in problems] == ["spec-resources", "external-default"]


@pytest.mark.parametrize("value", ["x" * 1_000_000, "[" * 60 + "]" * 60, "{a: " * 60 + "1" + "}" * 60])
def test_settings_of_any_size_and_depth_are_checked_in_bounded_time(value: str) -> None:
    document = read_document(text(f"a: {{type: task, task: {{kind: httpCall:v1, body: {value}}}, next: b}}"))
    definition, problems = read(document)
    if definition is None:
        assert problems
        return
    for kind in standard_kinds():
        settings = {"body": json.loads(json.dumps(definition.spec.states["a"].settings))}  # type: ignore[union-attr]
        assert list(kind.check(settings, definition))
