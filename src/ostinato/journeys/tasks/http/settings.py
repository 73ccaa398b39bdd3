"""The settings of `httpCall:v1`, and the rules that check them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ostinato.documents import Path
from ostinato.engine.http.egress import EgressRefused, check_headers, read_url
from ostinato.engine.http.secrets import SCHEME, secret_reference
from ostinato.errors import OstinatoError, did_you_mean
from ostinato.journeys.language import Definition, Expression
from ostinato.journeys.language.blocks import texts
from ostinato.journeys.language.interpolation import (
    PLACEHOLDER,
    config_names,
    names_within,
    texts_within,
    wrong_placeholders,
)
from ostinato.journeys.language.openapi import OpenApiError, find_operation
from ostinato.journeys.language.shapes import (
    any_text,
    anything,
    boolean,
    either,
    identifier,
    key,
    map_of,
    mapped,
    mapper,
    milliseconds,
    of,
    one_of,
    text,
)
from ostinato.journeys.language.states import Target
from ostinato.journeys.problems import Severity
from ostinato.journeys.task_kind import Fault
from ostinato.model import Json

_POLICIES = ("spec", "policies")
_BEGINS = re.compile(r"https?://|\$\{", re.IGNORECASE)


def is_mapped(value: object) -> bool:
    return isinstance(value, Mapping) and value.keys() == {"mapper"}


_scalar = either(lambda value: isinstance(value, int | float) and not isinstance(value, bool), anything, any_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    path: Mapping[str, str | int | float] = key("path", map_of(_scalar), make=dict)
    query: Mapping[str, str | int | float] = key("query", map_of(_scalar), make=dict)
    headers: Mapping[str, str] = key("headers", texts, make=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthRef:
    policy_ref: str = key("policyRef", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class JarUse:
    use_jar: bool | None = key("useJar", boolean, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorMapping:
    when: str = key("when", one_of("nonOk"))
    mapper: Expression = key("mapper", mapper)
    target: Target | None = key("target", of(Target), None)
    result_var: str | None = key("resultVar", identifier, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpCallSettings:
    operation_ref: str | None = key("operationRef", text(), None)
    params: Params | None = key("params", of(Params), None)
    method: str | None = key("method", one_of("GET", "POST", "PUT", "DELETE"), None)
    url: str | None = key("url", text(), None)
    headers: Mapping[str, str] = key("headers", texts, make=dict)
    mode: str = key("mode", one_of("requestResponse", "notify"), "requestResponse")
    body: Json | Expression = key("body", either(is_mapped, mapped, anything), None)
    accept: str | None = key("accept", text(), None)
    timeout_ms: int | None = key("timeoutMs", milliseconds(), None)
    result_var: str | None = key("resultVar", identifier, None)
    resilience_policy_ref: str | None = key("resiliencePolicyRef", text(), None)
    auth: AuthRef | None = key("auth", of(AuthRef), None)
    cookies: JarUse = key("cookies", of(JarUse), JarUse())
    error_mapping: ErrorMapping | None = key("errorMapping", of(ErrorMapping), None)

    @property
    def notify(self) -> bool:
        return self.mode == "notify"

    @property
    def parameters(self) -> Params:
        return self.params or Params()

    def templates(self) -> Iterator[tuple[Path, str]]:
        """Yield (path, text) for every text that may contain placeholders."""
        if self.url is not None:
            yield ("url",), self.url
        yield from ((("headers", name), value) for name, value in self.headers.items())
        if not isinstance(self.body, Expression):
            yield from ((("body", *path), text) for path, text in texts_within(self.body))
        for place in ("path", "query", "headers"):
            values: Mapping[str, object] = getattr(self.parameters, place)
            yield from ((("params", place, name), str(value)) for name, value in values.items())


def faults(settings: HttpCallSettings, definition: Definition) -> Iterator[Fault]:
    yield from _binding(settings, definition)
    yield from _result(settings)
    yield from _policies(settings, definition)
    yield from _texts(settings, definition)


def _binding(settings: HttpCallSettings, definition: Definition) -> Iterator[Fault]:
    raw = settings.method is not None or settings.url is not None
    if settings.operation_ref is not None:
        if raw:
            yield Fault("http-binding", (), "'operationRef' is set beside 'method' or 'url'", "leave one of them out")
        else:
            yield from _operation(settings, definition)
        return
    if settings.method is None or settings.url is None:
        yield Fault("http-binding", (), "it does not say what to call", "write operationRef, or method and url")
    if settings.params is not None:
        yield Fault("http-binding", ("params",), "'params' belongs to an operationRef", "put them into url and headers")
    if settings.url is not None:
        yield from _url(settings.url)
    if settings.method == "GET" and settings.body is not None:
        yield Fault("http-get-body", ("body",), "a GET has no body", "use POST, or leave it out")


def _url(url: str) -> Iterator[Fault]:
    if not _BEGINS.match(url):
        hint = "write https://…, or begin with ${platform.config.baseUrl}"
        yield Fault("http-url", ("url",), "the url is not absolute", hint)
        return
    if url.startswith("${"):
        return
    try:
        read_url(PLACEHOLDER.sub("x", url))
    except EgressRefused as problem:
        yield Fault("http-url", ("url",), f"the url cannot be called: {problem.rule}")


def _operation(settings: HttpCallSettings, definition: Definition) -> Iterator[Fault]:
    place: Path = ("operationRef",)
    try:
        operation = find_operation(definition, str(settings.operation_ref))
    except OpenApiError as problem:
        needs = ("spec", "apis", str(settings.operation_ref).partition(".")[0], "openApiRef")
        yield Fault("http-operation", place, str(problem), needs=needs)
        return
    if not operation.template.lower().startswith(("http://", "https://")):
        yield Fault("http-operation", place, "its document names no absolute server", "give it servers with https://…")
    for where, names in operation.required.items():
        given_names = {name.lower() if where == "headers" else name for name in getattr(settings.parameters, where)}
        for name in sorted(names):
            if (name.lower() if where == "headers" else name) not in given_names:
                message = f"{operation.id} needs the {where} parameter {name!r}"
                hint = f"write params: {{{where}: {{{name}: …}}}}"
                yield Fault("http-params", ("params", where), message, hint)
    unknown = set(settings.parameters.path) - operation.required["path"]
    for name in sorted(unknown):
        hint = did_you_mean(name, operation.required["path"])
        yield Fault("http-params", ("params", "path", name), f"{operation.id} has no path parameter {name!r}", hint)
    if operation.method == "GET" and settings.body is not None:
        yield Fault("http-get-body", ("body",), f"{operation.id} is a GET, which has no body", "leave it out")


def _result(settings: HttpCallSettings) -> Iterator[Fault]:
    mapping = settings.error_mapping
    if settings.notify:
        for name, value in (("resultVar", settings.result_var), ("errorMapping", mapping)):
            if value is not None:
                message = f"a notify has no {name!r}: its response is ignored"
                yield Fault("http-notify", (name,), message, "leave it out")
        return
    if settings.result_var is None and settings.mode:
        yield Fault("http-result", (), "'resultVar' is missing", "say where the answer goes, or write mode: notify")
    if mapping is not None and mapping.target is not None:
        here: Path = ("errorMapping", "target")
        if mapping.target.kind == "attributes":
            yield Fault("http-error-target", here, "an error is not written to attributes", "use context or var")
        if mapping.target.kind == "var" and mapping.result_var is None:
            yield Fault("http-error-target", here, "the target var has no 'resultVar'", "name it")


def _policies(settings: HttpCallSettings, definition: Definition) -> Iterator[Fault]:
    policies = definition.spec.policies
    reference = settings.resilience_policy_ref
    if reference is not None and reference not in policies.http_resilience.definitions:
        hint = did_you_mean(reference, policies.http_resilience.definitions)
        message = f"there is no resilience policy {reference!r}"
        needs: Path = (*_POLICIES, "httpResilience", "definitions")
        yield Fault("http-resilience", ("resiliencePolicyRef",), message, hint, needs=needs)
    if settings.auth is not None and settings.auth.policy_ref not in policies.http_client_auth.definitions:
        hint = did_you_mean(settings.auth.policy_ref, policies.http_client_auth.definitions)
        message = f"there is no auth policy {settings.auth.policy_ref!r}"
        needs = (*_POLICIES, "httpClientAuth", "definitions")
        yield Fault("http-auth", ("auth", "policyRef"), message, hint, needs=needs)
    if settings.cookies.use_jar and definition.spec.cookies.jar is None:
        hint = "write spec.cookies.jar.domains"
        yield Fault("http-jar", ("cookies",), "there is no jar to use", hint, needs=("spec", "cookies", "jar"))


def _texts(settings: HttpCallSettings, definition: Definition) -> Iterator[Fault]:
    for path, template in settings.templates():
        for placeholder in wrong_placeholders(template):
            hint = "write ${context.a.b} or ${platform.config.x}"
            yield Fault("http-placeholder", path, f"{placeholder} is not a placeholder", hint)
        for name in sorted(config_names(template) - definition.spec.platform.config.keys()):
            message = f"platform.config.{name} is not declared, so it has no value"
            hint, needs = "declare it in spec.platform.config", ("spec", "platform", "config")
            yield Fault("http-config", path, message, hint, Severity.WARNING, needs)
        if SCHEME in template and not (path[-2:-1] == ("headers",) and secret_reference(template)):
            yield Fault("http-secret", path, "a secret is named here", "a header may be one, as a whole; else use auth")
    for path, name in () if isinstance(settings.body, Expression) else names_within(settings.body):
        if PLACEHOLDER.search(name):
            message = f"{name!r} is sent as it is written: only values are filled in, not names"
            yield Fault("http-key", ("body", *path), message, "make the body with a mapper", Severity.WARNING)
    for place, headers in ((("headers",), settings.headers), (("params", "headers"), settings.parameters.headers)):
        for name, value in headers.items():
            try:
                check_headers({name: PLACEHOLDER.sub("x", value)})
            except OstinatoError as problem:
                yield Fault("http-header", (*place, name), str(problem))
