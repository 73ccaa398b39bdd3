"""Define the blocks of a definition other than its states, such as policies, bindings and cookies."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ostinato.journeys.language.shapes import (
    Expression,
    any_text,
    boolean,
    either,
    expression,
    key,
    list_of,
    map_of,
    mapped,
    mapper,
    milliseconds,
    number,
    of,
    one_of,
    open_object,
    seconds,
    text,
    whole,
)
from ostinato.journeys.language.states import Graph, Projection
from ostinato.model import Json

NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")
PHASES = one_of("SUCCEEDED", "FAILED")
texts = map_of(any_text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    name: str = key("name", text(NAME, "monthly-payment"))
    version: str = key("version", text(VERSION, "0.1.0"))
    description: str | None = key("description", text(), None)
    tags: tuple[str, ...] = key("tags", list_of(text()), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    schema: Mapping[str, Json] | None = key("schema", open_object, None)
    response: Projection | None = key("response", of(Projection), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpDefaults:
    timeout_ms: int | None = key("timeoutMs", milliseconds(), None)
    headers: Mapping[str, str] = key("headers", texts, make=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDefaults:
    resilience_policy_ref: str | None = key("resiliencePolicyRef", text(), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    http: HttpDefaults = key("http", of(HttpDefaults), make=HttpDefaults)
    tasks: TaskDefaults = key("tasks", of(TaskDefaults), TaskDefaults())


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformSetting:
    """The declaration of a value of `platform.config`. An operator sets the value."""

    type: str = key("type", one_of("string", "integer", "number", "boolean", "object"))
    required: bool = key("required", boolean, False)
    description: str | None = key("description", any_text, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    config: Mapping[str, PlatformSetting] = key("config", map_of(of(PlatformSetting)), make=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnTimeout:
    error_code: str = key("errorCode", text())
    reason: str = key("reason", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    max_duration_s: int = key("maxDurationSec", seconds())
    on_timeout: OnTimeout = key("onTimeout", of(OnTimeout))


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalWhen:
    predicate: Expression | None = key("predicate", expression, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class AlsoFor:
    """A rule that says which instances are compensated although they succeeded. Without a predicate, the rule applies
    to every success. Failures are always compensated."""

    when: OptionalWhen = key("when", of(OptionalWhen), OptionalWhen())


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation(Graph):
    mode: str = key("mode", one_of("async", "sync"), "async")
    also_for: tuple[AlsoFor, ...] = key("alsoFor", list_of(of(AlsoFor)), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    enabled: bool = key("enabled", boolean, True)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpSurface:
    links: Links = key("links", of(Links), Links())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    cancellable: bool = key("cancellable", boolean, True)
    start_mode: str | None = key("startMode", one_of("sync", "async"), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPayload:
    path: str = key("path", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class FromHeader:
    header: str = key("header", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class FromBaggage:
    key: str = key("key", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class TagBindings:
    from_payload: tuple[FromPayload, ...] = key("fromPayload", list_of(of(FromPayload)), ())
    from_headers: tuple[FromHeader, ...] = key("fromHeaders", list_of(of(FromHeader)), ())
    from_baggage: tuple[FromBaggage, ...] = key("fromBaggage", list_of(of(FromBaggage)), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeBindings:
    from_payload: Mapping[str, FromPayload] = key("fromPayload", map_of(of(FromPayload)), make=dict)
    from_headers: Mapping[str, FromHeader] = key("fromHeaders", map_of(of(FromHeader)), make=dict)
    from_baggage: Mapping[str, FromBaggage] = key("fromBaggage", map_of(of(FromBaggage)), make=dict)


def _is_short_form(value: object) -> bool:
    """Return whether `value` is written in the short form, which leaves out the key `fromPayload`. For example, the
    short form of `{fromPayload: {orderId: {path: …}}}` is `{orderId: {path: …}}`."""
    sources = {"fromPayload", "fromHeaders", "fromBaggage"}
    return isinstance(value, dict) and bool(value) and not sources & value.keys()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataBindings:
    tags: TagBindings = key("tags", of(TagBindings), make=TagBindings)
    attributes: AttributeBindings = key(
        "attributes",
        either(
            _is_short_form,
            lambda reading, value, path: of(AttributeBindings)(reading, {"fromPayload": value}, path),
            of(AttributeBindings),
        ),
        make=AttributeBindings,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMetadata:
    bindings: MetadataBindings = key("bindings", of(MetadataBindings), make=MetadataBindings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    format: str = key("format", one_of("problemDetails", "custom"))
    mapper: Expression | None = key("mapper", mapper, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    canonical_format: str = key("canonicalFormat", one_of("rfc9457"), "rfc9457")
    normalisers: Mapping[str, Expression] = key("normalisers", map_of(mapped), make=dict)
    envelope: Envelope | None = key("envelope", of(Envelope), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """The pause between retries. If there is no `kind`, the pause is exponential if there is a `factor`, and fixed
    otherwise."""

    kind: str | None = key("kind", one_of("fixed", "exponential"), None)
    base_delay_ms: int | None = key("baseDelayMs", milliseconds(0), None)
    max_delay_ms: int | None = key("maxDelayMs", milliseconds(0), None)
    initial_delay_ms: int | None = key("initialDelayMs", milliseconds(0), None)  # another name of baseDelayMs
    factor: float | None = key("factor", number(1000), None)
    jitter: str = key("jitter", one_of("none", "full"), "none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """A circuit breaker. If too many of the last calls failed, no calls are made for `open_s` seconds."""

    enabled: bool = key("enabled", boolean, True)
    failure_rate: float = key("failureRateThreshold", number(1000), 0.5)
    window: int = key("slidingWindowSize", whole(1, 10_000), 20)
    open_s: int = key("openTimeoutSec", seconds(), 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulkhead:
    """The limits of a bulkhead: how many calls may run at once, and how many may wait."""

    most: int = key("maxConcurrent", whole(1))
    queue: int = key("queueSize", whole(0), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resilience:
    """A policy for HTTP calls: when to retry a call, and when to reject a call without sending it."""

    max_attempts: int = key("maxAttempts", whole(1), 1)
    retry_on: tuple[str, ...] = key("retryOn", list_of(one_of("NETWORK_ERROR", "HTTP_5XX", "HTTP_429")), ())
    backoff: Backoff = key("backoff", of(Backoff), Backoff())
    circuit_breaker: Breaker | None = key("circuitBreaker", of(Breaker), None)
    bulkhead: Bulkhead | None = key("bulkhead", of(Bulkhead), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResiliencePolicies:
    default: str | None = key("default", text(), None)
    definitions: Mapping[str, Resilience] = key("definitions", map_of(of(Resilience)), make=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAuthMethod:
    method: str = key("method", one_of("clientSecretPost", "clientSecretBasic", "tlsClientAuth"))
    client_id: str = key("clientId", text())
    client_secret_ref: str | None = key("clientSecretRef", text(), None)
    client_cert_ref: str | None = key("clientCertRef", text(), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAuth:
    """How outbound calls authenticate. The module `checks.policies` checks the fields of each `kind`."""

    kind: str = key("kind", one_of("bearerStatic", "oauth2ClientCredentials", "mtlsClient"))
    token_ref: str | None = key("tokenRef", text(), None)
    token_endpoint: str | None = key("tokenEndpoint", text(), None)
    auth: ClientAuthMethod | None = key("auth", of(ClientAuthMethod), None)
    form: Mapping[str, str] = key("form", texts, make=dict)
    client_cert_ref: str | None = key("clientCertRef", text(), None)
    trust_anchors: tuple[Mapping[str, Json], ...] = key("trustAnchors", list_of(open_object), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAuthPolicies:
    default: str | None = key("default", text(), None)
    definitions: Mapping[str, ClientAuth] = key("definitions", map_of(of(ClientAuth)), make=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    http_resilience: ResiliencePolicies = key("httpResilience", of(ResiliencePolicies), make=ResiliencePolicies)
    http_client_auth: ClientAuthPolicies = key("httpClientAuth", of(ClientAuthPolicies), make=ClientAuthPolicies)


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedHeader:
    """Passes the request's header `from_header` on to outbound calls, as `to_header`."""

    from_header: str = key("from", text())
    to_header: str = key("to", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestBinding:
    """Says which headers and query parameters of a request are copied to the context, and which headers are passed on
    to outbound calls."""

    headers_to_context: Mapping[str, str] = key("headersToContext", map_of(text()), make=dict)
    headers_passthrough: tuple[PassedHeader, ...] = key("headersPassthrough", list_of(of(PassedHeader)), ())
    query_to_context: Mapping[str, str] = key("queryToContext", map_of(text()), make=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    path: str = key("path", text(re.compile(r"/\S*"), "/offers"))
    method: str = key("method", one_of("POST"), "POST")


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseWhen:
    phase: str = key("phase", PHASES)
    error_type: str | None = key("errorType", text(), None)
    predicate: Expression | None = key("predicate", expression, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRule:
    when: ResponseWhen = key("when", of(ResponseWhen))
    status: int | None = key("status", whole(100, 599), None)
    status_expr: Expression | None = key("statusExpr", expression, None)


_status = either(lambda value: isinstance(value, str), one_of("fromProblemStatus"), whole(100, 599))


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseDefault:
    succeeded: int | str = key("SUCCEEDED", whole(100, 599), 200)
    failed: int | str = key("FAILED", _status, "fromProblemStatus")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiResponses:
    rules: tuple[ResponseRule, ...] = key("rules", list_of(of(ResponseRule)), ())
    default: ResponseDefault = key("default", of(ResponseDefault), ResponseDefault())


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpBinding:
    route: Route | None = key("route", of(Route), None)
    start: RequestBinding = key("start", of(RequestBinding), make=RequestBinding)
    steps: Mapping[str, RequestBinding] = key("steps", map_of(of(RequestBinding)), make=dict)
    api_responses: ApiResponses | None = key("apiResponses", of(ApiResponses), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bindings:
    http: HttpBinding = key("http", of(HttpBinding), make=HttpBinding)
    websocket: Mapping[str, Json] | None = key("websocket", open_object, None)
    queue: Mapping[str, Json] | None = key("queue", open_object, None)
    grpc: Mapping[str, Json] | None = key("grpc", open_object, None)
    cli: Mapping[str, Json] | None = key("cli", open_object, None)
    function: Mapping[str, Json] | None = key("function", open_object, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeWhen:
    phase: str = key("phase", PHASES)
    predicate: Expression | None = key("predicate", expression, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedOutcome:
    when: OutcomeWhen = key("when", of(OutcomeWhen))


@dataclass(frozen=True, slots=True, kw_only=True)
class CookieDomain:
    pattern: str = key("pattern", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class JarSettings:
    domains: tuple[CookieDomain, ...] = key("domains", list_of(of(CookieDomain), 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedCookies:
    names: tuple[str, ...] = key("names", list_of(text()), ())
    name_patterns: tuple[str, ...] = key("namePatterns", list_of(text()), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnToClient:
    mode: str = key("mode", one_of("none", "allFromAllowedDomains", "filtered"))
    include: IncludedCookies = key("include", of(IncludedCookies), IncludedCookies())


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookies:
    jar: JarSettings | None = key("jar", of(JarSettings), None)
    return_to_client: ReturnToClient | None = key("returnToClient", of(ReturnToClient), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadGuard:
    guard_ref: str = key("guardRef", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    read: ReadGuard | None = key("read", of(ReadGuard), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """An API that tasks can call. Its OpenAPI document is at `openApiRef`."""

    open_api_ref: str = key("openApiRef", text())
