"""Check the parts of a definition that callers and operators see, such as tags, guards and cookies. Check also
`spec.bindings`, which says how callers reach the definition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import quote, unquote

from ostinato.documents import Path
from ostinato.errors import did_you_mean, list_choices
from ostinato.journeys.checks.branches_and_subjourneys import steps_into
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language.blocks import RequestBinding, RunMetadata
from ostinato.journeys.language.json_schema import schema_problems
from ostinato.journeys.language.states import (
    CallSubjourney,
    Parallel,
    State,
    Succeed,
    Task,
    Timer,
    Transform,
    Wait,
    Webhook,
)
from ostinato.journeys.problems import Severity

# First segments of the server's own paths. `apis` is not one of them: below it, an API may have any path that is not
# the name of an API.
OWN_PATHS = frozenset(
    "agents diagnosis events functions health jobs journey-bindings journey-definitions journeys metrics namespaces "
    "nodes runs schedules simulate simulate.svg tokens upcoming webhooks workflows".split()
)
_HTTP: Path = ("spec", "bindings", "http")
# The kind of definition that a binding is for; None means both.
_OTHERS = {"websocket": "Journey", "queue": "Journey", "grpc": "Api", "cli": None, "function": None}


def tags(checking: CheckContext) -> Iterator[RuleFinding]:
    most, tags_ = checking.settings.limits.definition_tags, checking.definition.metadata.tags
    if len(tags_) > most:
        yield RuleFinding(("metadata", "tags"), f"there are {len(tags_)} tags", f"at most {most} are allowed")


def lifecycle(checking: CheckContext) -> Iterator[RuleFinding]:
    if checking.definition.is_api and checking.definition.spec.lifecycle is not None:
        message = "an Api has no lifecycle: it is called and answers"
        yield RuleFinding(("spec", "lifecycle"), message, "leave it out", key=True)


def only_for(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report blocks in an API that only journeys may have, and blocks in a journey that only APIs may have."""
    definition, spec = checking.definition, checking.definition.spec
    if definition.is_api:
        for name, block in (("access", spec.access.read), ("metadata", spec.metadata != RunMetadata())):
            if block:
                yield RuleFinding(("spec", name), f"{name!r} belongs to a Journey", "leave it out", key=True)
        if spec.output.response is not None:
            yield RuleFinding(
                ("spec", "output", "response"), "'response' belongs to a Journey", "leave it out", key=True
            )
    for name, part in (("route", spec.bindings.http.route), ("apiResponses", spec.bindings.http.api_responses)):
        if part is not None and not definition.is_api:
            hint = "leave it out, or use kind: Api"
            yield RuleFinding((*_HTTP, name), f"{name!r} belongs to an Api", hint, key=True, needs=("kind",))


def other_bindings(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report parts of `spec.bindings` that cannot be used:

    - `websocket`, `queue` and `grpc`, because the engine does not serve them
    - settings in `cli` and `function`, because these two have no settings
    """
    for name, kind in _OTHERS.items():
        binding = getattr(checking.definition.spec.bindings, name)
        if binding is None:
            continue
        path = ("spec", "bindings", name)
        if kind is not None and checking.definition.kind != kind:
            yield RuleFinding(path, f"{name!r} belongs to kind: {kind}", "leave it out", key=True, needs=("kind",))
        elif kind is None and binding:
            yield RuleFinding(path, f"{name!r} has no settings", f"write {name}: {{}}")
        elif kind is not None:
            yield RuleFinding(path, f"this engine does not serve {name!r}", "it serves http", key=True)


def step_bindings(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report entries of `spec.bindings.http.steps` whose step does not exist. A step is a state that waits for an
    input."""
    states = list(checking.definition.states())
    steps = {id for _, id, state in states if isinstance(state, Wait | Webhook)}
    unread = {id for graph, id, _ in states if not checking.knows(graph.at(id))}
    for id in checking.definition.spec.bindings.http.steps:
        if id not in steps | unread:
            hint = did_you_mean(id, steps) or list_choices(sorted(steps))
            message, needs = f"{id!r} is no wait and no webhook", ("spec", "states")
            yield RuleFinding((*_HTTP, "steps", id), message, hint, key=True, needs=needs)


def bound_names(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report empty names of headers in `headersToContext`, and of query parameters in `queryToContext`."""
    http = checking.definition.spec.bindings.http
    places: list[tuple[Path, RequestBinding]] = [((*_HTTP, "start"), http.start)]
    places += [((*_HTTP, "steps", id), binding) for id, binding in http.steps.items()]
    for path, binding in places:
        bound = {"headersToContext": binding.headers_to_context, "queryToContext": binding.query_to_context}
        for key, names in bound.items():
            if any(not name.strip() for name in names):
                yield RuleFinding((*path, key), "a name is empty")


def route(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report an API whose path calls never reach, because it begins like one of the server's own paths."""
    route_ = checking.definition.spec.bindings.http.route
    if route_ is None:
        return
    first = re.split("[/:]", route_.path.strip("/"))[0]
    if first in OWN_PATHS or first == "openapi.json":
        words = f"what begins with /{first} is the server's own API"
        yield RuleFinding((*_HTTP, "route", "path"), words, "choose another path, such as /v2/…")


def encoded_route(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report an API whose path looks encoded, or has a query. The server compares the decoded path of a request."""
    route_ = checking.definition.spec.bindings.http.route
    if route_ is not None and (unquote(route_.path) != route_.path or set(route_.path) & set("?#")):
        words = f"only a request for {quote(route_.path, safe='/:{}')} has this path, which is compared decoded"
        yield RuleFinding((*_HTTP, "route", "path"), words, "write the path without encoding and without a query")


def responses(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report response rules with both or neither of `status` and `statusExpr`. Report `errorType` in success rules."""
    responses_ = checking.definition.spec.bindings.http.api_responses
    for n, rule in enumerate(responses_.rules if responses_ else ()):
        path = (*_HTTP, "apiResponses", "rules", n)
        if (rule.status is None) == (rule.status_expr is None):
            yield RuleFinding(path, "a rule has one of 'status' and 'statusExpr'")
        if rule.when.error_type is not None and rule.when.phase == "SUCCEEDED":
            yield RuleFinding((*path, "when", "errorType"), "what succeeded has no error", "leave it out")


def config(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report required entries of `platform.config` that the engine's settings lack, if these settings are known."""
    if checking.configured:
        for name, setting in checking.definition.spec.platform.config.items():
            if setting.required and name not in checking.settings.platform:
                path = ("spec", "platform", "config", name)
                yield RuleFinding(
                    path, f"this engine has no value for platform.config.{name}", "configure it", key=True
                )


def envelope(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report a custom error envelope without a mapper, and a standard one (`problemDetails`) with a mapper."""
    envelope_ = checking.definition.spec.errors.envelope
    path = ("spec", "errors", "envelope")
    if envelope_ is not None and envelope_.format == "custom" and envelope_.mapper is None:
        yield RuleFinding(path, "a custom envelope has no 'mapper'", "add one, or write format: problemDetails")
    if envelope_ is not None and envelope_.format == "problemDetails" and envelope_.mapper is not None:
        yield RuleFinding(path, "the usual form has no 'mapper'", "leave it out, or write format: custom")


def guard(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report a read guard whose subjourney does not exist."""
    read_guard, subjourneys = checking.definition.spec.access.read, checking.definition.spec.subjourneys
    if read_guard is not None and read_guard.guard_ref not in subjourneys:
        hint = did_you_mean(read_guard.guard_ref, subjourneys) or list_choices(subjourneys)
        path, needs = ("spec", "access", "read", "guardRef"), ("spec", "subjourneys")
        yield RuleFinding(path, f"there is no subjourney {read_guard.guard_ref!r}", hint, needs=needs)


def guard_answers(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report states that would make a read guard wait. They may also be in a subjourney that the guard enters."""
    read_guard = checking.definition.spec.access.read
    within = tuple(steps_into(checking.definition, read_guard.guard_ref)) if read_guard else ()
    for graph, id, state in checking.definition.states():
        inside = any(graph.path[: len(one)] == one for one in within)
        if inside and isinstance(state, Wait | Webhook | Timer):
            yield RuleFinding(
                (*graph.at(id), "type"), f"a guard has no {state.type}: it answers at once", "leave it out"
            )


def guard_says_allowed(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about each `succeed` state of a read guard that cannot output `allowed`. Such a state has no `outputVar`, so
    its output is the whole context, and no state of the guard can write `allowed` into the context."""
    read_guard = checking.definition.spec.access.read
    graph = checking.definition.spec.subjourneys.get(read_guard.guard_ref) if read_guard else None
    if graph is None or any(_may_make_allowed(state) for state in graph.states.values()):
        return
    for id, state in graph.states.items():
        if isinstance(state, Succeed) and state.output_var is None:
            message = "the guard answers with the whole context, in which it has made no 'allowed'"
            yield RuleFinding(
                graph.at(id), message, "name a variable with {allowed: true} or {allowed: false}: outputVar"
            )


def _may_make_allowed(state: State) -> bool:
    match state:
        case Transform():
            return state.transform.target.kind == "context" or state.transform.result_var == "allowed"
        case CallSubjourney():
            return state.subjourney.result_var == "allowed"
        case Parallel():  # the join may copy `allowed` from a branch
            return True
        case Task():
            return state.settings.get("resultVar") == "allowed"
    return False


def cookie_patterns(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report patterns of cookie names that are not valid regular expressions."""
    return_to_client = checking.definition.spec.cookies.return_to_client
    for n, pattern in enumerate(return_to_client.include.name_patterns if return_to_client else ()):
        for _, message in schema_problems({"pattern": pattern}):
            yield RuleFinding(("spec", "cookies", "returnToClient", "include", "namePatterns", n), message)


def cookie_jar(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn if cookies are to be returned to the caller, but there is no cookie jar."""
    cookies = checking.definition.spec.cookies
    if cookies.return_to_client is not None and cookies.return_to_client.mode != "none" and cookies.jar is None:
        path = ("spec", "cookies", "returnToClient")
        yield RuleFinding(path, "there is no jar to return cookies from", "add spec.cookies.jar", key=True)


RULES = (
    Rule("definition-tags", tags),
    Rule("lifecycle-api", lifecycle),
    Rule("kind-part", only_for),
    Rule("binding-other", other_bindings),
    Rule("binding-step", step_bindings),
    Rule("binding-name", bound_names),
    Rule("binding-route", route),
    Rule("binding-encoded", encoded_route, Severity.WARNING),
    Rule("response-rule", responses),
    Rule("platform-config", config),
    Rule("errors-envelope", envelope),
    Rule("access-guard", guard),
    Rule("access-waits", guard_answers),
    Rule("access-answer", guard_says_allowed, Severity.WARNING),
    Rule("cookie-pattern", cookie_patterns),
    Rule("cookie-jar", cookie_jar, Severity.WARNING),
)
