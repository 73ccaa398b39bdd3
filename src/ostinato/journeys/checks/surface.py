"""Rules about how a definition meets the world: its labels, bindings, answers, configuration, guards and cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ostinato.errors import did_you_mean, there_are
from ostinato.journeys.checks.composition import steps_into
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language.blocks import RequestBinding, RunMetadata
from ostinato.journeys.language.states import Call, Parallel, State, Succeed, Task, Timer, Transform, Wait, Webhook
from ostinato.journeys.problems import Severity
from ostinato.journeys.schemas import problems
from ostinato.schedules.marked import Path

# What the server's own paths begin with. Not `apis`: below it an Api may have any path that is no Api's name.
OWN_PATHS = frozenset(
    "diagnosis events health jobs journey-bindings journey-definitions journeys metrics namespaces nodes runs "
    "schedules simulate simulate.svg tokens upcoming webhooks".split()
)
_HTTP: Path = ("spec", "bindings", "http")
# Which kind of definition another binding is for; None is both.
_OTHERS = {"websocket": "Journey", "queue": "Journey", "grpc": "Api", "cli": None, "function": None}


def tags(checking: Checking) -> Iterator[Finding]:
    """A definition has not too many tags."""
    most, given = checking.settings.limits.definition_tags, checking.definition.metadata.tags
    if len(given) > most:
        yield Finding(("metadata", "tags"), f"there are {len(given)} tags", f"at most {most} are allowed")


def lifecycle(checking: Checking) -> Iterator[Finding]:
    """Only a journey has a way to be started."""
    given = checking.definition.spec.lifecycle
    if checking.definition.is_api and given is not None:
        yield Finding(
            ("spec", "lifecycle"), "an Api has no lifecycle: it is called and answers", "leave it out", key=True
        )


def only_for(checking: Checking) -> Iterator[Finding]:
    """Parts that belong to one kind of definition do not stand in the other."""
    definition, spec = checking.definition, checking.definition.spec
    if definition.is_api:
        for name, given in (("access", spec.access.read), ("metadata", spec.metadata != RunMetadata())):
            if given:
                yield Finding(("spec", name), f"{name!r} belongs to a Journey", "leave it out", key=True)
        if spec.output.response is not None:
            yield Finding(("spec", "output", "response"), "'response' belongs to a Journey", "leave it out", key=True)
    for name, part in (("route", spec.bindings.http.route), ("apiResponses", spec.bindings.http.api_responses)):
        if part is not None and not definition.is_api:
            hint = "leave it out, or use kind: Api"
            yield Finding((*_HTTP, name), f"{name!r} belongs to an Api", hint, key=True, needs=("kind",))


def other_bindings(checking: Checking) -> Iterator[Finding]:
    """A binding is for this kind of definition, and one that this engine serves."""
    for name, kind in _OTHERS.items():
        given = getattr(checking.definition.spec.bindings, name)
        if given is None:
            continue
        path = ("spec", "bindings", name)
        if kind is not None and checking.definition.kind != kind:
            yield Finding(path, f"{name!r} belongs to kind: {kind}", "leave it out", key=True, needs=("kind",))
        elif kind is None and given:
            yield Finding(path, f"{name!r} has no settings", f"write {name}: {{}}")
        elif kind is not None:
            yield Finding(path, f"this engine does not serve {name!r}", "it serves http", key=True)


def step_bindings(checking: Checking) -> Iterator[Finding]:
    """What is bound to a step is one."""
    states = list(checking.definition.states())
    steps = {id for _, id, state in states if isinstance(state, Wait | Webhook)}
    unread = {id for graph, id, _ in states if not checking.knows(graph.at(id))}
    for id in checking.definition.spec.bindings.http.steps:
        if id not in steps | unread:
            hint = did_you_mean(id, steps) or there_are(sorted(steps))
            message, needs = f"{id!r} is no wait and no webhook", ("spec", "states")
            yield Finding((*_HTTP, "steps", id), message, hint, key=True, needs=needs)


def bound_names(checking: Checking) -> Iterator[Finding]:
    """Headers and parameters have names."""
    http = checking.definition.spec.bindings.http
    places: list[tuple[Path, RequestBinding]] = [((*_HTTP, "start"), http.start)]
    places += [((*_HTTP, "steps", id), one) for id, one in http.steps.items()]
    for path, one in places:
        for key, names in (("headersToContext", one.headers_to_context), ("queryToContext", one.query_to_context)):
            if any(not name.strip() for name in names):
                yield Finding((*path, key), "a name is empty")


def route(checking: Checking) -> Iterator[Finding]:
    """An Api's own path is not one of the server's: a call to it would never reach the Api."""
    given = checking.definition.spec.bindings.http.route
    first = "" if given is None else re.split("[/:]", given.path.strip("/"))[0]
    if first in OWN_PATHS:
        path = (*_HTTP, "route", "path")
        yield Finding(path, f"what begins with /{first} is the server's own API", "choose another path, such as /v2/…")


def responses(checking: Checking) -> Iterator[Finding]:
    """A rule about an answer gives a status, and asks for errors only where there are any."""
    given = checking.definition.spec.bindings.http.api_responses
    for n, rule in enumerate(given.rules if given else ()):
        path = (*_HTTP, "apiResponses", "rules", n)
        if (rule.status is None) == (rule.status_expr is None):
            yield Finding(path, "a rule has one of 'status' and 'statusExpr'")
        if rule.when.error_type is not None and rule.when.phase == "SUCCEEDED":
            yield Finding((*path, "when", "errorType"), "what succeeded has no error", "leave it out")


def config(checking: Checking) -> Iterator[Finding]:
    """This engine has every value that is required. Where nothing is configured, nothing is said."""
    if checking.configured:
        for name, setting in checking.definition.spec.platform.config.items():
            if setting.required and name not in checking.settings.platform:
                path = ("spec", "platform", "config", name)
                yield Finding(path, f"this engine has no value for platform.config.{name}", "configure it", key=True)


def envelope(checking: Checking) -> Iterator[Finding]:
    """An error's form is the usual one, or made by a mapper."""
    given = checking.definition.spec.errors.envelope
    path = ("spec", "errors", "envelope")
    if given is not None and given.format == "custom" and given.mapper is None:
        yield Finding(path, "a custom envelope has no 'mapper'", "add one, or write format: problemDetails")
    if given is not None and given.format == "problemDetails" and given.mapper is not None:
        yield Finding(path, "the usual form has no 'mapper'", "leave it out, or write format: custom")


def guard(checking: Checking) -> Iterator[Finding]:
    """A guard is a subjourney."""
    given, known = checking.definition.spec.access.read, checking.definition.spec.subjourneys
    if given is not None and given.guard_ref not in known:
        hint = did_you_mean(given.guard_ref, known) or there_are(known)
        path, needs = ("spec", "access", "read", "guardRef"), ("spec", "subjourneys")
        yield Finding(path, f"there is no subjourney {given.guard_ref!r}", hint, needs=needs)


def guard_answers(checking: Checking) -> Iterator[Finding]:
    """A guard answers at once: whoever it kept waiting would never see anything."""
    given = checking.definition.spec.access.read
    within = tuple(steps_into(checking.definition, given.guard_ref)) if given else ()
    for graph, id, state in checking.definition.states():
        inside = any(graph.path[: len(one)] == one for one in within)
        if inside and isinstance(state, Wait | Webhook | Timer):
            yield Finding((*graph.at(id), "type"), f"a guard has no {state.type}: it answers at once", "leave it out")


def guard_says_allowed(checking: Checking) -> Iterator[Finding]:
    """A guard's answer is an object with `allowed`. Without an `outputVar` it is the whole context, which has none
    unless a transform made it, or whoever started the run gave it one."""
    given = checking.definition.spec.access.read
    graph = checking.definition.spec.subjourneys.get(given.guard_ref) if given else None
    if graph is None or any(_may_make_allowed(state) for state in graph.states.values()):
        return
    for id, state in graph.states.items():
        if isinstance(state, Succeed) and state.output_var is None:
            message = "the guard answers with the whole context, in which it has made no 'allowed'"
            yield Finding(graph.at(id), message, "name a variable with {allowed: true} or {allowed: false}: outputVar")


def _may_make_allowed(state: State) -> bool:
    match state:
        case Transform():
            return state.transform.target.kind == "context" or state.transform.result_var == "allowed"
        case Call():
            return state.subjourney.result_var == "allowed"
        case Parallel():  # what a branch makes, the join may bring along
            return True
        case Task():
            return state.settings.get("resultVar") == "allowed"
    return False


def cookie_patterns(checking: Checking) -> Iterator[Finding]:
    """Names of cookies are looked for by regular expressions that can be read."""
    given = checking.definition.spec.cookies.return_to_client
    for n, pattern in enumerate(given.include.name_patterns if given else ()):
        for _, message in problems({"pattern": pattern}):
            yield Finding(("spec", "cookies", "returnToClient", "include", "namePatterns", n), message)


def cookie_jar(checking: Checking) -> Iterator[Finding]:
    """What is returned comes from a jar."""
    cookies = checking.definition.spec.cookies
    if cookies.return_to_client is not None and cookies.return_to_client.mode != "none" and cookies.jar is None:
        path = ("spec", "cookies", "returnToClient")
        yield Finding(path, "there is no jar to return cookies from", "add spec.cookies.jar", key=True)


RULES = (
    Rule("definition-tags", tags),
    Rule("lifecycle-api", lifecycle),
    Rule("kind-part", only_for),
    Rule("binding-other", other_bindings),
    Rule("binding-step", step_bindings),
    Rule("binding-name", bound_names),
    Rule("binding-route", route),
    Rule("response-rule", responses),
    Rule("platform-config", config),
    Rule("errors-envelope", envelope),
    Rule("access-guard", guard),
    Rule("access-waits", guard_answers),
    Rule("access-answer", guard_says_allowed, Severity.WARNING),
    Rule("cookie-pattern", cookie_patterns),
    Rule("cookie-jar", cookie_jar, Severity.WARNING),
)
