"""Rules about policies: that each has what its kind needs, and that what names one finds it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ostinato.errors import did_you_mean, there_are
from ostinato.journeys.checks.rules import Checking, Finding, Rule
from ostinato.journeys.language.blocks import ClientAuth
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import secret_reference
from ostinato.schedules.marked import Path

_POLICIES: Path = ("spec", "policies")


def resilience(checking: Checking) -> Iterator[Finding]:
    """Delays do not shrink, and a rate is a part of a whole."""
    for name, one in checking.definition.spec.policies.http_resilience.definitions.items():
        path = (*_POLICIES, "httpResilience", "definitions", name)
        if one.backoff.factor is not None and one.backoff.factor < 1:
            yield Finding((*path, "backoff", "factor"), "the factor is at least 1")
        if one.backoff.base_delay_ms is not None and one.backoff.initial_delay_ms is not None:
            message = "'baseDelayMs' and 'initialDelayMs' are two names of one thing"
            yield Finding((*path, "backoff", "initialDelayMs"), message, "leave one out", key=True)
        if one.circuit_breaker is not None and not 0 < one.circuit_breaker.failure_rate <= 1:
            here = (*path, "circuitBreaker", "failureRateThreshold")
            yield Finding(here, "the rate is more than 0 and at most 1", "write something like 0.5")


def client_auth(checking: Checking) -> Iterator[Finding]:
    """A policy has what its kind needs."""
    for name, one in checking.definition.spec.policies.http_client_auth.definitions.items():
        path = (*_POLICIES, "httpClientAuth", "definitions", name)
        for missing in _missing(one):
            yield Finding(path, f"{one.kind} needs {missing!r}")
        grant = one.form.get("grant_type", "client_credentials")
        if grant != "client_credentials":
            hint = "leave it out"
            yield Finding((*path, "form", "grant_type"), f"the grant is client_credentials, not {grant!r}", hint)
        endpoint = one.token_endpoint
        if endpoint is not None and not endpoint.startswith(("https://", "http://", "${platform.config.")):
            yield Finding((*path, "tokenEndpoint"), "the token endpoint is not an absolute URL", "write https://…")
        for n, anchor in enumerate(one.trust_anchors):
            if not isinstance(anchor.get("pem"), str):
                yield Finding((*path, "trustAnchors", n), "a trust anchor has its certificate as 'pem'")


def _missing(one: ClientAuth) -> Iterator[str]:
    match one.kind:
        case "bearerStatic":
            yield from ["tokenRef"] if one.token_ref is None else []
        case "mtlsClient":
            yield from ["clientCertRef"] if one.client_cert_ref is None else []
        case "oauth2ClientCredentials":
            yield from ["tokenEndpoint"] if one.token_endpoint is None else []
            if one.auth is None:
                yield "auth"
            elif one.auth.method == "tlsClientAuth":
                yield from ["auth.clientCertRef"] if one.auth.client_cert_ref is None else []
            elif one.auth.method:
                yield from ["auth.clientSecretRef"] if one.auth.client_secret_ref is None else []


def references(checking: Checking) -> Iterator[Finding]:
    """A secret is named, never written."""
    for name, one in checking.definition.spec.policies.http_client_auth.definitions.items():
        path = (*_POLICIES, "httpClientAuth", "definitions", name)
        auth = one.auth
        given: list[tuple[Path, str | None]] = [
            (("tokenRef",), one.token_ref),
            (("clientCertRef",), one.client_cert_ref),
        ]
        given += [(("auth", "clientSecretRef"), auth.client_secret_ref)] if auth else []
        given += [(("auth", "clientCertRef"), auth.client_cert_ref)] if auth else []
        for place, value in given:
            if value is not None and secret_reference(value) is None:  # not shown: it may be the secret itself
                yield Finding((*path, *place), "this is not a reference to a secret", "write secret://name")


def defaults(checking: Checking) -> Iterator[Finding]:
    """What is named as a default is there."""
    spec = checking.definition.spec
    resilient, auth = spec.policies.http_resilience, spec.policies.http_client_auth
    http, calls = (*_POLICIES, "httpResilience"), (*_POLICIES, "httpClientAuth")
    used = ("spec", "defaults", "tasks", "resiliencePolicyRef")
    named: list[tuple[Path, str | None, Path, Collection[str]]] = [
        (used, spec.defaults.tasks.resilience_policy_ref, http, resilient.definitions),
        ((*http, "default"), resilient.default, http, resilient.definitions),
        ((*calls, "default"), auth.default, calls, auth.definitions),
    ]
    for path, name, among, known in named:
        if name is not None and name not in known:
            hint = did_you_mean(name, known) or there_are(known)
            needs = (*among, "definitions")
            yield Finding(path, f"there is no policy {name!r}, so none is applied", hint, needs=needs)


RULES = (
    Rule("policy-resilience", resilience),
    Rule("policy-auth", client_auth),
    Rule("policy-secret", references),
    Rule("policy-default", defaults, Severity.WARNING),
)
