"""The rules of the language by their numbers: for each an example that keeps it and one that breaks it, and the code
that the broken one gets. Several lines of one number are several ways to break a rule."""

from __future__ import annotations

from typing import NamedTuple

from tests.support.journey_documents import text


class Case(NamedTuple):
    rule: int
    code: str
    good: str
    bad: str


END = "b: {type: succeed}"
PEM = "-----BEGIN CERTIFICATE-----"
GET = "kind: httpCall:v1, method: GET, url: 'https://x.example/y', resultVar: r"
POST = "kind: httpCall:v1, method: POST, url: 'https://x.example/y', resultVar: r"
CACHE = "kind: cache:v1, key: {mapper: {lang: dataweave, expr: context.k}}"
SCHEDULE = "kind: schedule:v1, start: b, interval: P1M, maxRuns: 3"
UNDO = "compensation: {start: a, states: {a: UNDOING, b: {type: succeed}}}"
WAIT = "type: wait, wait: {channel: manual, input: {schema: {type: object}}}, next: b"
HOOK = "type: webhook, webhook: {input: {schema: {type: object}}}, next: b"
OAUTH = (
    "kind: oauth2ClientCredentials, tokenEndpoint: 'https://x/t', "
    "auth: {method: clientSecretPost, clientId: c, clientSecretRef: 'secret://s'}"
)
OPENAPI = "apis: {users: {openApiRef: users.openapi.yaml}}"


def doc(states: str = "a: {type: succeed}", spec: str = "", kind: str = "Journey", start: str = "a") -> str:
    return text(states, spec=spec, kind=kind, start=start)


def task(settings: str, spec: str = "", kind: str = "Journey") -> str:
    return doc(f"a: {{type: task, task: {{{settings}}}, next: b}}\n{END}", spec, kind)


def state(settings: str, spec: str = "", kind: str = "Journey") -> str:
    return doc(f"a: {{{settings}}}\n{END}", spec, kind)


def case(when: str, default: str = "default: b", spec: str = "") -> str:
    return state(f"type: choice, choices: [{{when: {when}, next: b}}], {default}", spec)


def predicate(expr: str, lang: str = "dataweave") -> str:
    return case(f"{{predicate: {{lang: {lang}, expr: '{expr}'}}}}")


def transform(more: str, spec: str = "", kind: str = "Journey") -> str:
    return state(f"type: transform, transform: {{{more}}}, next: b", spec, kind)


MAPPER = "mapper: {lang: dataweave, expr: context}"


def timer(more: str) -> str:
    return state(f"type: timer, timer: {{{more}}}, next: b", "lifecycle: {startMode: async}")


def parallel(first: str, second: str = "", join: str = "strategy: allOf") -> str:
    branches = ", ".join(f"{{{one}}}" for one in (first, second) if one)
    return state(f"type: parallel, parallel: {{branches: [{branches}], join: {{{join}}}}}, next: b")


def branch(name: str, states: str = "x: {type: succeed}", start: str = "x") -> str:
    return f"name: {name}, start: {start}, states: {{{states}}}"


def call(more: str, states: str = "x: {type: succeed}") -> str:
    sub = f"subjourneys: {{price: {{start: x, states: {{{states}}}}}}}"
    return state(f"type: subjourney, subjourney: {{{more}}}, next: b", sub)


def responding(rule: str) -> str:
    return doc(spec=f"bindings: {{http: {{apiResponses: {{rules: [{{{rule}}}]}}}}}}", kind="Api")


def auth(policy: str) -> str:
    return doc(spec=f"policies: {{httpClientAuth: {{definitions: {{p: {{{policy}}}}}}}}}")


def resilient(policy: str) -> str:
    return doc(spec=f"policies: {{httpResilience: {{definitions: {{p: {{{policy}}}}}}}}}")


def edited(before: str, after: str) -> str:
    text = doc().replace(before, after)
    assert text != doc()
    return text


PUT = "transform, transform: {mapper: {lang: dataweave, expr: context}}"


def input_schema(schema: str) -> str:
    return state(f"type: wait, wait: {{channel: manual, input: {{schema: {schema}}}}}, next: b")


def showing(variable: str, schema: str) -> str:
    response = f"response: {{outputVar: {variable}, schema: {schema}}}"
    return state(f"type: wait, wait: {{channel: manual, input: {{schema: {{}}}}, {response}}}, next: b")


def loop(first: str, spec: str = "", kind: str = "Journey") -> str:
    again = "{when: {predicate: {lang: dataweave, expr: context.x}}, next: a}"
    return doc(f"a: {{type: {first}, next: c}}\nc: {{type: choice, choices: [{again}], default: b}}\n{END}", spec, kind)


def api(next: str) -> str:
    return doc(f"a: {{type: {PUT}, next: {next}}}\n{END}", kind="Api")


CASES = [
    # The envelope.
    Case(1, "shape-enum", doc(), edited("apiVersion: v1", "apiVersion: v2")),
    Case(2, "shape-enum", doc(kind="Api"), doc(kind="Workflow")),
    Case(3, "shape-pattern", doc(), edited("name: example", "name: My_Journey")),
    Case(4, "shape-pattern", doc(), edited("version: 0.1.0", "version: one")),
    Case(5, "shape-empty", edited("  name:", "  description: x\n  name:"), edited("  name:", "  description: ''\n  name:")),
    Case(6, "shape-type", edited("  name:", "  tags: [a]\n  name:"), edited("  name:", "  tags: [1]\n  name:")),
    Case(
        6,
        "definition-tags",
        edited("  name:", f"  tags: {list('abcdefghij')}\n  name:"),
        edited("  name:", f"  tags: {list('abcdefghijk')}\n  name:"),
    ),
    Case(7, "document-anchor", doc(), edited("kind: Journey", "kind: &x Journey")),
    Case(7, "document-key-twice", doc(), edited("kind: Journey", "kind: Journey\nkind: Api")),
    Case(7, "document-tab", doc(), edited("  start", "\tstart")),
    Case(7, "document-alias", doc(), edited("kind: Journey", "kind: *x")),
    Case(8, "graph-start", doc(), doc(start="nope")),
    Case(9, "state-type", doc(), doc("a: {type: loop}")),
    Case(9, "shape-empty", doc(), doc().partition("  states:")[0] + "  states: {}"),
    Case(9, "graph-id", doc(), doc("a: {type: succeed}\n'': {type: succeed}")),
    Case(9, "graph-id", doc("...: {type: succeed}", start="..."), doc("..: {type: succeed}", start="..")),
    Case(10, "shape-unknown-field", doc(), doc(spec="schedule: {}")),
    Case(10, "spec-resources", doc(), doc(spec="resources: {}")),
    # The graph.
    Case(11, "graph-target", task(GET), task(GET).replace("next: b", "next: missing")),
    Case(
        12,
        "graph-target",
        parallel(branch("one")),
        doc(parallel(branch("one")).partition("  states:\n")[2].replace("next: b", "next: x")),
    ),
    Case(13, "shape-missing", task(GET), task(GET).replace(", next: b", "")),
    Case(14, "graph-unreachable", doc(), doc("a: {type: succeed}\nc: {type: succeed}")),
    Case(15, "api-state", timer("duration: PT1M"), timer("duration: PT1M").replace("Journey", "Api")),
    Case(15, "api-state", doc(kind="Api"), state(WAIT, kind="Api")),
    Case(
        15,
        "api-state",
        parallel(branch("one")).replace("Journey", "Api"),
        parallel(branch("one", "x: {type: timer, timer: {duration: PT1M}, next: y}, y: {type: succeed}")).replace(
            "Journey", "Api"
        ),
    ),
    Case(16, "api-endless", api("b"), api("a")),
    Case(16, "api-loop", api("b"), loop(PUT, kind="Api")),
    Case(
        17,
        "graph-loop",
        loop(PUT, spec="execution: {maxDurationSec: 5, onTimeout: {errorCode: E, reason: r}}"),
        loop(PUT),
    ),
    Case(
        17,
        "graph-loop",
        loop("wait, wait: {channel: manual, input: {schema: {}}}"),
        loop(PUT),
    ),
    # Choices, transforms, expressions.
    Case(18, "shape-missing", predicate("context.a"), case("{lang: dataweave, expr: context.a}")),
    Case(18, "shape-empty", predicate("context.a"), state("type: choice, choices: [], default: b")),
    Case(19, "choice-default", predicate("context.a"), predicate("context.a").replace(", default: b", "")),
    Case(19, "choice-default", predicate("true").replace(", default: b", ""), predicate("false").replace(", default: b", "")),
    Case(20, "expression-language", predicate("context.a"), predicate("context.a", "cel")),
    Case(20, "shape-missing", predicate("context.a"), case("{predicate: {expr: context.a}}")),
    Case(21, "expression-jolt", predicate("context.a"), predicate("[]", "jolt")),
    Case(
        21,
        "expression-jolt",
        responding("when: {phase: FAILED}, statusExpr: {lang: dataweave, expr: '500'}"),
        responding("when: {phase: FAILED}, statusExpr: {lang: jolt, expr: '[]'}"),
    ),
    Case(22, "expression-syntax", predicate("context.a"), predicate("context.")),
    Case(22, "expression-syntax", task(f"{POST}, body: {{{MAPPER}}}"), task(f"{POST}, body: {{mapper: {{lang: dataweave, expr: 'x.'}}}}")),
    Case(23, "predicate-literal", predicate("true"), predicate("42")),
    Case(23, "predicate-literal", predicate("context.a == 1"), predicate("{a: 1}")),
    Case(23, "predicate-literal", predicate("{a: 1} == {a: context.x}"), predicate("{a: {b: [1]}, c: [2]}")),
    Case(23, "predicate-literal", predicate('[.context.a[]|.x] == ["x"]', "jq"), predicate('[.context.a[]|.x, ["] == ["]]', "jq")),
    Case(23, "predicate-literal", predicate('["a]"] = ["b"]', "jsonata"), predicate('["a]"]', "jsonata")),
    Case(24, "expression-ref", transform(MAPPER), transform("mapper: {lang: dataweave, exprRef: x.dwl}")),
    Case(
        25,
        "mapper-twice",
        transform("mapperRef: m", "mappers: {m: {lang: dataweave, expr: context}}"),
        transform(f"{MAPPER}, mapperRef: m", "mappers: {m: {lang: dataweave, expr: context}}"),
    ),
    Case(26, "mapper-unknown", transform("mapperRef: m", "mappers: {m: {lang: dataweave, expr: context}}"), transform("mapperRef: m")),
    Case(27, "shape-enum", transform(f"{MAPPER}, target: {{kind: context}}"), transform(f"{MAPPER}, target: {{kind: global}}")),
    Case(28, "transform-result", transform(f"{MAPPER}, target: {{kind: var}}, resultVar: v"), transform(f"{MAPPER}, target: {{kind: var}}")),
    Case(28, "shape-pattern", transform(f"{MAPPER}, target: {{kind: var}}, resultVar: my_var"), transform(f"{MAPPER}, target: {{kind: var}}, resultVar: my-var")),
    Case(29, "transform-attributes", transform(f"{MAPPER}, target: {{kind: attributes}}"), transform(f"{MAPPER}, target: {{kind: attributes}}", kind="Api")),
    Case(
        29,
        "transform-attributes",
        doc(spec="access: {read: {guardRef: g}}\nsubjourneys: {g: {start: x, states: {x: {type: succeed}}}}"),
        doc(
            spec="access: {read: {guardRef: g}}\nsubjourneys: {g: {start: y, states: {x: {type: succeed}, "
            f"y: {{type: transform, transform: {{{MAPPER}, target: {{kind: attributes}}}}, next: x}}}}}}}}"
        ),
    ),
    Case(30, "expression-name", predicate("context.checks.ok and (context.l map (x) -> x.y) != null"), predicate("checks.ok")),
    Case(30, "expression-name", predicate(".context.errors | .contxt", "jq"), predicate(".contxt.n == 1", "jq")),
    Case(30, "expression-name", predicate("context.contxt.n = 1", "jsonata"), predicate("contxt.n = 1", "jsonata")),
    Case(
        30,
        "expression-name",
        parallel(branch("one"), join="strategy: allOf, resultVar: r, mapper: {lang: dataweave, expr: outcomes.one.status}"),
        parallel(branch("one"), join="strategy: allOf, resultVar: r, mapper: {lang: dataweave, expr: outcms.one.status}"),
    ),
    Case(30, "expression-minus", transform("mapper: {lang: dataweave, expr: 'context -- [\"a\"]'}"), transform("mapper: {lang: dataweave, expr: 'context - [\"a\"]'}")),
    Case(28, "shape-pattern", transform(f"{MAPPER}, target: {{path: a.b}}"), transform(f"{MAPPER}, target: {{path: a..b}}")),
    Case(
        30,
        "expression-config",
        transform("mapper: {lang: dataweave, expr: platform.config.k}", "platform: {config: {k: {type: string}}}"),
        transform("mapper: {lang: dataweave, expr: platform.config.k}"),
    ),
    # httpCall.
    Case(31, "http-binding", task(GET), task("kind: httpCall:v1, resultVar: r")),
    Case(31, "http-binding", task(GET), task(f"{GET}, operationRef: users.getUser", OPENAPI)),
    Case(31, "http-binding", task(GET), task(f"{GET}, params: {{query: {{a: b}}}}")),
    Case(32, "shape-enum", task(GET), task(GET.replace("GET", "PATCH"))),
    Case(33, "http-url", task(GET), task(GET.replace("https://x.example/y", "/items"))),
    Case(33, "http-url", task(GET.replace("https://x.example", "${context.base}")), task(GET.replace("https", "ftp"))),
    Case(34, "http-get-body", task(f"{POST}, body: x"), task(f"{GET}, body: x")),
    Case(35, "http-result", task(GET), task(GET.replace(", resultVar: r", ""))),
    Case(35, "shape-pattern", task(GET), task(GET.replace("resultVar: r", "resultVar: r-r"))),
    Case(36, "http-notify", task(f"{POST.replace(', resultVar: r', '')}, mode: notify"), task(f"{POST}, mode: notify")),
    Case(
        36,
        "http-notify",
        task(f"{POST}, errorMapping: {{when: nonOk, {MAPPER}}}"),
        task(f"{POST.replace(', resultVar: r', '')}, mode: notify, errorMapping: {{when: nonOk, {MAPPER}}}"),
    ),
    Case(37, "shape-range", task(f"{GET}, timeoutMs: 1"), task(f"{GET}, timeoutMs: 0")),
    Case(
        38,
        "http-operation",
        task("kind: httpCall:v1, operationRef: users.getUser, params: {path: {id: x}}, resultVar: r", OPENAPI),
        task("kind: httpCall:v1, operationRef: jobs, resultVar: r", OPENAPI),
    ),
    Case(38, "http-operation", task(GET), task("kind: httpCall:v1, operationRef: users.getUsr, resultVar: r", OPENAPI)),
    Case(38, "http-operation", task(GET), task("kind: httpCall:v1, operationRef: others.x, resultVar: r", OPENAPI)),
    Case(38, "http-params", task(GET), task("kind: httpCall:v1, operationRef: users.getUser, resultVar: r", OPENAPI)),
    Case(
        39,
        "http-resilience",
        task(f"{GET}, resiliencePolicyRef: p", "policies: {httpResilience: {definitions: {p: {maxAttempts: 2}}}}"),
        task(f"{GET}, resiliencePolicyRef: p"),
    ),
    Case(
        39,
        "policy-default",
        doc(spec="defaults: {tasks: {resiliencePolicyRef: p}}\npolicies: {httpResilience: {definitions: {p: {}}}}"),
        doc(spec="defaults: {tasks: {resiliencePolicyRef: p}}"),
    ),
    Case(
        40,
        "http-auth",
        task(f"{GET}, auth: {{policyRef: p}}", f"policies: {{httpClientAuth: {{definitions: {{p: {{{OAUTH}}}}}}}}}"),
        task(f"{GET}, auth: {{policyRef: p}}"),
    ),
    Case(41, "shape-enum", task(f"{GET}, errorMapping: {{when: nonOk, {MAPPER}}}"), task(f"{GET}, errorMapping: {{when: always, {MAPPER}}}")),
    Case(42, "shape-type", task(f"{GET}, cookies: {{useJar: false}}"), task(f"{GET}, cookies: {{useJar: 1}}")),
    Case(42, "shape-unknown-field", task(f"{CACHE}, operation: get, resultVar: r"), task(f"{CACHE}, operation: get, resultVar: r, cookies: {{useJar: true}}")),
    Case(42, "http-jar", task(f"{GET}, cookies: {{useJar: true}}", "cookies: {jar: {domains: [{pattern: x.example}]}}"), task(f"{GET}, cookies: {{useJar: true}}")),
    Case(43, "http-placeholder", task(GET.replace("y'", "${context.a.b}'")), task(GET.replace("y'", "${env.X}'"))),
    Case(43, "http-placeholder", task(GET), task(GET.replace("y'", "${context.a[0]}'"))),
    Case(43, "http-placeholder", task(GET), task(GET.replace("y'", "${context.a'"))),
    Case(43, "http-key", task(POST + ", body: {a: ['${context.k}']}"), task(POST + ", body: {a: [{'${context.k}': 1}]}")),
    Case(44, "shape-unknown-field", task(GET), task("kind: httpCall:v1, operationRef: users.getUser, params: {path: {id: x}, body: {}}, resultVar: r", OPENAPI)),
    # Other tasks.
    Case(45, "task-kind", task(GET), task("kind: httpCall")),
    Case(45, "task-kind", task(GET), task("kind: x:v0")),
    Case(46, "task-unknown", task(GET), task("kind: foo:v1")),
    Case(47, "shape-empty", task(f"kind: kafkaPublish:v1, topic: t, value: {{{MAPPER}}}"), task(f"kind: kafkaPublish:v1, topic: '', value: {{{MAPPER}}}")),
    Case(47, "shape-missing", task(f"kind: kafkaPublish:v1, topic: t, value: {{{MAPPER}}}"), task("kind: kafkaPublish:v1, topic: t")),
    Case(47, "shape-unknown-field", task(GET), task(f"kind: kafkaPublish:v1, topic: t, value: {{{MAPPER}}}, resultVar: r")),
    Case(
        47,
        "kafka-connection",
        task(f"kind: kafkaPublish:v1, topic: t, value: {{{MAPPER}}}, connectionSecretRef: 'secret://k'"),
        task(f"kind: kafkaPublish:v1, topic: t, value: {{{MAPPER}}}, connectionSecretRef: 'broker:9092'"),
    ),
    Case(48, "shape-enum", task(f"{CACHE}, operation: get, resultVar: r"), task(f"{CACHE}, operation: drop, resultVar: r")),
    Case(48, "cache-result", task(f"{CACHE}, operation: get, resultVar: r"), task(f"{CACHE}, operation: get")),
    Case(48, "cache-field", task(f"{CACHE}, operation: put, value: {{{MAPPER}}}"), task(f"{CACHE}, operation: put")),
    Case(48, "cache-field", task(f"{CACHE}, operation: put, value: {{{MAPPER}}}"), task(f"{CACHE}, operation: put, value: {{{MAPPER}}}, resultVar: r")),
    Case(48, "shape-range", task(f"{CACHE}, operation: put, value: {{{MAPPER}}}, ttlSeconds: 1"), task(f"{CACHE}, operation: put, value: {{{MAPPER}}}, ttlSeconds: 0")),
    Case(49, "shape-missing", task("kind: xmlDecode:v1, sourceVar: x"), task("kind: xmlDecode:v1")),
    Case(49, "xml-result", task("kind: xmlDecode:v1, sourceVar: x, target: {kind: var}, resultVar: v"), task("kind: xmlDecode:v1, sourceVar: x, target: {kind: var}")),
    Case(50, "shape-enum", task("kind: jwtValidate:v1, source: {location: cookie, name: t}"), task("kind: apiKeyValidate:v1, source: {location: cookie, name: t}")),
    Case(50, "shape-missing", task("kind: mtlsValidate:v1, allowAnyFromTrusted: true"), task("kind: mtlsValidate:v1, allowAnyFromTrusted: true, trustAnchors: [{file: x}]")),
    Case(50, "mtls-anchor", task("kind: mtlsValidate:v1, allowAnyFromTrusted: true"), task("kind: mtlsValidate:v1, allowAnyFromTrusted: true, trustAnchors: [{pem: x}]")),
    Case(50, "mtls-nobody", task("kind: mtlsValidate:v1, allowSubjects: [CN=x]"), task("kind: mtlsValidate:v1")),
    # Schedules.
    Case(51, "schedule-api", task(SCHEDULE), task(SCHEDULE, kind="Api")),
    Case(52, "schedule-start", task(SCHEDULE), task(SCHEDULE.replace("start: b", "start: bb"))),
    Case(52, "shape-missing", task(SCHEDULE), task(SCHEDULE.replace("start: b, ", ""))),
    Case(53, "schedule-interval", task(SCHEDULE), task(SCHEDULE.replace("P1M", "daily"))),
    Case(53, "shape-missing", task(SCHEDULE.replace("P1M", f"{{{MAPPER}}}")), task(SCHEDULE.replace("interval: P1M, ", ""))),
    Case(54, "schedule-interval", task(SCHEDULE.replace("P1M", "PT1M")), task(SCHEDULE.replace("P1M", "PT1S"))),
    Case(55, "shape-range", task(SCHEDULE), task(SCHEDULE.replace("maxRuns: 3", "maxRuns: 0"))),
    Case(55, "shape-range", task(SCHEDULE), task(SCHEDULE.replace("maxRuns: 3", "maxRuns: 1000000001"))),
    Case(55, "shape-missing", task(SCHEDULE), task(SCHEDULE.replace(", maxRuns: 3", ""))),
    Case(59, "schedule-interactive", task(SCHEDULE, UNDO.replace("UNDOING", "{type: succeed}")), task(SCHEDULE, UNDO.replace("UNDOING", f"{{{WAIT}}}"))),
    Case(56, "schedule-start-at", task(SCHEDULE), task(f"{SCHEDULE}, startAt: '9999-12-31T23:59:59Z'")),
    Case(56, "schedule-start-at", task(f"{SCHEDULE}, startAt: '2025-01-01T00:00:00Z'"), task(f"{SCHEDULE}, startAt: '2025-01-01'")),
    Case(57, "shape-type", task(f"{SCHEDULE}, subjectId: {{{MAPPER}}}"), task(f"{SCHEDULE}, subjectId: u1")),
    Case(58, "shape-enum", task(f"{SCHEDULE}, onExisting: upsert"), task(f"{SCHEDULE}, onExisting: replace")),
    Case(
        59,
        "schedule-interactive",
        doc(f"a: {{type: task, task: {{{SCHEDULE}}}, next: w}}\nw: {{{WAIT}}}\n{END}"),
        doc(f"a: {{type: task, task: {{{SCHEDULE.replace('start: b', 'start: w')}}}, next: b}}\nw: {{{WAIT}}}\n{END}"),
    ),
    # What waits.
    Case(60, "shape-enum", state(WAIT), state(WAIT.replace("manual", "timer"))),
    Case(61, "shape-missing", state(HOOK), state("type: webhook, webhook: {}, next: b")),
    Case(61, "schema-invalid", input_schema("{type: object}"), input_schema("{type: thing}")),
    Case(62, "external-timeout", state(WAIT.replace("manual,", "manual, timeoutSec: 5, onTimeout: b,")), state(WAIT.replace("manual,", "manual, timeoutSec: 5,"))),
    Case(62, "shape-range", state(WAIT), state(WAIT.replace("manual,", "manual, timeoutSec: 0, onTimeout: b,"))),
    Case(63, "shape-missing", state(WAIT), state(WAIT.replace(", next: b", ""))),
    Case(63, "external-default", state(WAIT), state(WAIT.replace("next: b", "default: b"))),
    Case(63, "external-default", state(WAIT), state(WAIT.replace(", next: b", "").replace("channel: manual", "channel: manual, default: b"))),
    Case(64, "shape-pattern", showing("out", "{}"), showing("a.b", "{}")),
    Case(64, "response-reserved", showing("out", "{properties: {mine: {}}}"), showing("out", "{properties: {phase: {}}}")),
    Case(65, "shape-unknown-field", timer("duration: PT1M"), timer("duration: PT1M, response: {}")),
    Case(66, "external-removed", state(HOOK), state(HOOK.replace("webhook: {", "webhook: {security: {}, "))),
    Case(67, "timer-one", timer("duration: PT1M"), timer("")),
    Case(67, "timer-one", timer("until: '2026-01-01T00:00:00Z'"), timer("duration: PT1M, until: '2026-01-01T00:00:00Z'")),
    Case(68, "timer-literal", timer("duration: P1M"), timer("duration: 5m")),
    Case(68, "timer-limit", timer("duration: P13M"), timer("duration: P3Y")),
    Case(68, "timer-literal", timer("until: '2026-01-01T00:00:00+01:00'"), timer("until: tomorrow")),
    Case(69, "shape-unknown-field", timer("duration: PT1M"), timer("duration: PT1M, timeoutSec: 5")),
    Case(70, "timer-first", timer("duration: PT1M"), state("type: timer, timer: {duration: PT1M}, next: b")),
    Case(71, "step-cancel", state(WAIT), doc(f"cancel: {{{WAIT}}}\n{END}", start="cancel")),
    # Branches, subjourneys, ends.
    Case(72, "parallel-names", parallel(branch("one"), branch("two")), parallel(branch("one"), branch("one"))),
    Case(72, "graph-start", parallel(branch("one")), parallel(branch("one", start="y"))),
    Case(72, "shape-empty", parallel(branch("one")), parallel("")),
    Case(73, "shape-enum", parallel(branch("one")), parallel(branch("one"), join="strategy: all")),
    Case(73, "shape-enum", parallel(branch("one"), join="strategy: anyOf, errorPolicy: failFast"), parallel(branch("one"), join="strategy: anyOf, errorPolicy: no")),
    Case(74, "join-language", parallel(branch("one"), join=f"strategy: allOf, {MAPPER}, resultVar: r"), parallel(branch("one"), join="strategy: allOf, mapper: {lang: jq, expr: .}, resultVar: r")),
    Case(75, "join-result", parallel(branch("one"), join=f"strategy: allOf, {MAPPER}, resultVar: r"), parallel(branch("one"), join=f"strategy: allOf, {MAPPER}")),
    Case(
        76,
        "step-twice",
        parallel(branch("one", f"w: {{{WAIT}}}, b: {{type: succeed}}", "w"), branch("two", f"v: {{{WAIT}}}, b: {{type: succeed}}", "v")),
        parallel(branch("one", f"w: {{{WAIT}}}, b: {{type: succeed}}", "w"), branch("two", f"w: {{{HOOK}}}, b: {{type: succeed}}", "w")),
    ),
    Case(77, "subjourney-unknown", call("ref: price"), call("ref: prices")),
    Case(77, "shape-enum", call("ref: price, resultKind: outcome"), call("ref: price, resultKind: all")),
    Case(77, "subjourney-cycle", call("ref: price"), call("ref: price", "x: {type: subjourney, subjourney: {ref: price}, next: y}, y: {type: succeed}")),
    Case(78, "shape-missing", doc("a: {type: fail, errorCode: E, reason: r}"), doc("a: {type: fail, errorCode: E}")),
    Case(79, "shape-pattern", doc("a: {type: succeed, outputVar: out}"), doc("a: {type: succeed, outputVar: a.b}")),
    # The blocks of the spec.
    Case(80, "shape-range", doc(spec="execution: {maxDurationSec: 1, onTimeout: {errorCode: E, reason: r}}"), doc(spec="execution: {maxDurationSec: 0, onTimeout: {errorCode: E, reason: r}}")),
    Case(80, "shape-empty", doc(), doc(spec="execution: {maxDurationSec: 1, onTimeout: {errorCode: '', reason: r}}")),
    Case(81, "shape-enum", doc(spec="compensation: {mode: sync, start: x, states: {x: {type: succeed}}}"), doc(spec="compensation: {mode: later, start: x, states: {x: {type: succeed}}}")),
    Case(81, "graph-start", doc(), doc(spec="compensation: {start: y, states: {x: {type: succeed}}}")),
    Case(81, "api-state", doc(spec="compensation: {start: x, states: {x: {type: succeed}}}", kind="Api"), doc(spec=f"compensation: {{start: a, states: {{a: {{{WAIT}}}, b: {{type: succeed}}}}}}", kind="Api")),
    Case(82, "shape-enum", doc(spec="lifecycle: {startMode: async}"), doc(spec="lifecycle: {startMode: later}")),
    Case(82, "lifecycle-api", doc(spec="lifecycle: {startMode: async}"), doc(spec="lifecycle: {startMode: async}", kind="Api")),
    Case(82, "shape-type", doc(spec="lifecycle: {cancellable: false}"), doc(spec="lifecycle: {cancellable: 1}")),
    Case(83, "shape-type", doc(spec="httpSurface: {links: {enabled: false}}"), doc(spec="httpSurface: {links: {enabled: 'no'}}")),
    Case(84, "shape-unknown-field", doc(spec="bindings: {http: {}}"), doc(spec="bindings: {smtp: {}}")),
    Case(84, "kind-part", doc(spec="bindings: {http: {route: {path: /x}}}", kind="Api"), doc(spec="bindings: {http: {route: {path: /x}}}")),
    Case(84, "kind-part", doc(kind="Api"), doc(spec="bindings: {http: {apiResponses: {}}}")),
    Case(84, "binding-other", doc(spec="bindings: {cli: {}}"), doc(spec="bindings: {websocket: {}}", kind="Api")),
    Case(84, "binding-other", doc(spec="bindings: {function: {}}"), doc(spec="bindings: {grpc: {}}")),
    Case(84, "binding-other", doc(spec="bindings: {function: {}}"), doc(spec="bindings: {cli: {x: 1}}")),
    Case(84, "binding-other", doc(), doc(spec="bindings: {queue: {}}")),
    Case(84, "shape-pattern", doc(spec="bindings: {http: {route: {path: /x}}}", kind="Api"), doc(spec="bindings: {http: {route: {path: x}}}", kind="Api")),
    Case(84, "shape-enum", doc(spec="bindings: {http: {route: {path: /x, method: POST}}}", kind="Api"), doc(spec="bindings: {http: {route: {path: /x, method: GET}}}", kind="Api")),
    Case(85, "binding-step", state(WAIT, "bindings: {http: {steps: {a: {}}}}"), state(WAIT, "bindings: {http: {steps: {b: {}}}}")),
    Case(85, "binding-name", doc(spec="bindings: {http: {start: {headersToContext: {X-A: a}}}}"), doc(spec="bindings: {http: {start: {headersToContext: {'': a}}}}")),
    Case(85, "shape-empty", doc(), doc(spec="bindings: {http: {start: {queryToContext: {a: ''}}}}")),
    Case(85, "shape-missing", doc(spec="bindings: {http: {start: {headersPassthrough: [{from: A, to: B}]}}}"), doc(spec="bindings: {http: {start: {headersPassthrough: [{from: A}]}}}")),
    Case(78, "fail-code", doc("a: {type: fail, errorCode: X, reason: r}"), doc('a: {type: fail, errorCode: "X\\0Y", reason: r}')),
    Case(78, "fail-placeholder", doc("a: {type: fail, errorCode: X, reason: r}"), doc("a: {type: fail, errorCode: 'X_${context.x}', reason: r}")),
    Case(78, "fail-placeholder", doc("a: {type: fail, errorCode: X, reason: 'no ${context.x}'}"), doc("a: {type: fail, errorCode: X, reason: 'no ${payload.x}'}")),
    Case(84, "binding-route", doc(kind="Api", spec="bindings: {http: {route: {path: /apis/x, method: POST}}}"), doc(kind="Api", spec="bindings: {http: {route: {path: /runs/x, method: POST}}}")),
    Case(84, "binding-route", doc(kind="Api", spec="bindings: {http: {route: {path: /openapi, method: POST}}}"), doc(kind="Api", spec="bindings: {http: {route: {path: /openapi.json, method: POST}}}")),
    Case(84, "binding-encoded", doc(kind="Api", spec="bindings: {http: {route: {path: /über, method: POST}}}"), doc(kind="Api", spec="bindings: {http: {route: {path: /%C3%BCber, method: POST}}}")),
    Case(84, "binding-encoded", doc(kind="Api", spec="bindings: {http: {route: {path: /q, method: POST}}}"), doc(kind="Api", spec="bindings: {http: {route: {path: '/q?x=1', method: POST}}}")),
    Case(84, "binding-encoded", doc(kind="Api", spec="bindings: {http: {route: {path: '/100%', method: POST}}}"), doc(kind="Api", spec="bindings: {http: {route: {path: '/a%20b', method: POST}}}")),
    Case(86, "response-rule", responding("when: {phase: FAILED}, status: 400"), responding("when: {phase: FAILED}")),
    Case(86, "response-rule", responding("when: {phase: FAILED, errorType: x}, status: 400"), responding("when: {phase: SUCCEEDED, errorType: x}, status: 400")),
    Case(86, "shape-enum", responding("when: {phase: SUCCEEDED}, status: 201"), responding("when: {phase: DONE}, status: 201")),
    Case(86, "shape-range", responding("when: {phase: FAILED}, status: 599"), responding("when: {phase: FAILED}, status: 99")),
    Case(87, "shape-enum", doc(spec="platform: {config: {k: {type: integer}}}"), doc(spec="platform: {config: {k: {type: date}}}")),
    Case(87, "platform-config", doc(spec="platform: {config: {base: {type: string, required: true}}}"), doc(spec="platform: {config: {absent: {type: string, required: true}}}")),
    Case(88, "shape-missing", doc(spec="metadata: {bindings: {tags: {fromHeaders: [{header: X}]}}}"), doc(spec="metadata: {bindings: {tags: {fromHeaders: [{}]}}}")),
    Case(88, "shape-type", doc(spec="metadata: {bindings: {attributes: {orderId: {path: order.id}}}}"), doc(spec="metadata: {bindings: {attributes: {fromPayload: [x]}}}")),
    Case(89, "shape-enum", doc(spec="errors: {canonicalFormat: rfc9457}"), doc(spec="errors: {canonicalFormat: rfc7807}")),
    Case(89, "errors-envelope", doc(spec=f"errors: {{envelope: {{format: custom, {MAPPER}}}}}"), doc(spec="errors: {envelope: {format: custom}}")),
    Case(89, "shape-enum", doc(spec="errors: {envelope: {format: problemDetails}}"), doc(spec="errors: {envelope: {format: xml}}")),
    Case(89, "mapper-unknown", doc(spec="errors: {normalisers: {n: {mapperRef: m}}}\nmappers: {m: {lang: dataweave, expr: error}}"), doc(spec="errors: {normalisers: {n: {mapperRef: m}}}")),
    Case(90, "shape-range", resilient("maxAttempts: 1"), resilient("maxAttempts: 0")),
    Case(90, "policy-resilience", resilient("backoff: {initialDelayMs: 5, factor: 2}"), resilient("backoff: {factor: 0.5}")),
    Case(90, "policy-resilience", resilient("circuitBreaker: {failureRateThreshold: 1}"), resilient("circuitBreaker: {failureRateThreshold: 50}")),
    Case(90, "shape-enum", auth(OAUTH), auth("kind: basic")),
    Case(90, "policy-auth", auth("kind: bearerStatic, tokenRef: 'secret://t'"), auth("kind: bearerStatic")),
    Case(90, "policy-auth", auth(OAUTH), auth(OAUTH.replace(", clientSecretRef: 'secret://s'", ""))),
    Case(90, "policy-auth", auth(f"{OAUTH}, form: {{scope: a}}"), auth(f"{OAUTH}, form: {{grant_type: password}}")),
    Case(90, "policy-auth", auth("kind: mtlsClient, clientCertRef: 'secret://t'"), auth("kind: mtlsClient")),
    Case(90, "policy-secret", auth("kind: bearerStatic, tokenRef: 'secret://t'"), auth("kind: bearerStatic, tokenRef: tokentoken")),
    Case(91, "shape-enum", doc(spec="outcomes: {x: {when: {phase: SUCCEEDED}}}"), doc(spec="outcomes: {x: {when: {phase: RUNNING}}}")),
    Case(91, "predicate-literal", doc(spec="outcomes: {x: {when: {phase: FAILED, predicate: {lang: dataweave, expr: 'true'}}}}"), doc(spec="outcomes: {x: {when: {phase: FAILED, predicate: {lang: dataweave, expr: '1'}}}}")),
    Case(92, "shape-empty", doc(spec="cookies: {jar: {domains: [{pattern: .x.example}]}}"), doc(spec="cookies: {jar: {domains: [{pattern: ''}]}}")),
    Case(92, "shape-missing", doc(), doc(spec="cookies: {jar: {domains: [{pattern: x}]}, returnToClient: {}}")),
    Case(92, "cookie-pattern", doc(spec="cookies: {jar: {domains: [{pattern: x}]}, returnToClient: {mode: filtered, include: {namePatterns: ['s.*']}}}"), doc(spec="cookies: {jar: {domains: [{pattern: x}]}, returnToClient: {mode: filtered, include: {namePatterns: ['(']}}}")),
    Case(92, "cookie-jar", doc(spec="cookies: {returnToClient: {mode: none}}"), doc(spec="cookies: {returnToClient: {mode: allFromAllowedDomains}}")),
    Case(93, "access-guard", doc(spec="access: {read: {guardRef: g}}\nsubjourneys: {g: {start: x, states: {x: {type: succeed}}}}"), doc(spec="access: {read: {guardRef: g}}")),
    Case(94, "response-reserved", doc(spec="output: {response: {outputVar: o, schema: {properties: {mine: {}}}}}"), doc(spec="output: {response: {outputVar: o, schema: {properties: {status: {}}}}}")),
    Case(
        93,
        "access-waits",
        doc(spec="access: {read: {guardRef: g}}\nsubjourneys: {g: {start: b, states: {b: {type: succeed}}}}"),
        doc(spec=f"access: {{read: {{guardRef: g}}}}\nsubjourneys: {{g: {{start: x, states: {{x: {{{WAIT}}}, b: {{type: succeed}}}}}}}}"),
    ),
    Case(
        93,
        "access-answer",
        doc(spec="access: {read: {guardRef: g}}\nsubjourneys: {g: {start: x, states: {x: {type: succeed, outputVar: said}}}}"),
        doc(spec="access: {read: {guardRef: g}}\nsubjourneys: {g: {start: x, states: {x: {type: succeed}}}}"),
    ),
    Case(88, "kind-part", doc(spec="metadata: {bindings: {attributes: {a: {path: b}}}}"), doc(spec="metadata: {bindings: {attributes: {a: {path: b}}}}", kind="Api")),
    Case(94, "shape-missing", doc(), doc(spec="output: {response: {schema: {}}}")),
    Case(95, "schema-invalid", doc(spec="input: {schema: {required: [a]}}"), doc(spec="input: {schema: {required: a}}")),
    Case(95, "schema-invalid", doc(spec="output: {schema: {type: object}}"), doc(spec="output: {schema: {type: 5}}")),
    Case(95, "schema-reference", doc(spec="input: {schema: {$ref: '#/$defs/a', $defs: {a: {}}}}"), doc(spec="input: {schema: {$ref: 'https://x.example/schema'}}")),
    Case(96, "shape-range", doc(spec="defaults: {http: {timeoutMs: 1}}"), doc(spec="defaults: {http: {timeoutMs: 0}}")),
    Case(96, "shape-type", doc(spec="defaults: {http: {headers: {A: b}}}"), doc(spec="defaults: {http: {headers: {A: 1}}}")),
]  # fmt: skip
WARNINGS = (
    "binding-encoded fail-placeholder "
    "spec-resources graph-unreachable api-loop graph-loop expression-name expression-config expression-minus policy-default "
    "access-answer http-key external-default mtls-nobody timer-first join-result subjourney-cycle cookie-jar"
).split()
