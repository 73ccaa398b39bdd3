"""Check the policies of a definition. For example, a policy must have the fields that its kind requires, a secret must
be a reference, and a default policy must exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ostinato.documents import Path
from ostinato.engine.http.secrets import secret_reference
from ostinato.errors import did_you_mean, list_choices
from ostinato.journeys.checks.rules import CheckContext, Rule, RuleFinding
from ostinato.journeys.language.blocks import ClientAuth
from ostinato.journeys.problems import Severity

_POLICIES: Path = ("spec", "policies")


def resilience(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report invalid numbers in resilience policies. For example, the factor of a backoff must be at least 1."""
    for name, policy in checking.definition.spec.policies.http_resilience.definitions.items():
        path = (*_POLICIES, "httpResilience", "definitions", name)
        if policy.backoff.factor is not None and policy.backoff.factor < 1:
            yield RuleFinding((*path, "backoff", "factor"), "the factor is at least 1")
        if policy.backoff.base_delay_ms is not None and policy.backoff.initial_delay_ms is not None:
            message = "'baseDelayMs' and 'initialDelayMs' are two names of the same setting"
            yield RuleFinding((*path, "backoff", "initialDelayMs"), message, "leave one out", key=True)
        if policy.circuit_breaker is not None and not 0 < policy.circuit_breaker.failure_rate <= 1:
            here = (*path, "circuitBreaker", "failureRateThreshold")
            yield RuleFinding(here, "the rate is more than 0 and at most 1", "write something like 0.5")


def client_auth(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report faults of authentication policies: a field that the policy's `kind` requires is missing, or a value is
    invalid."""
    for name, policy in checking.definition.spec.policies.http_client_auth.definitions.items():
        path = (*_POLICIES, "httpClientAuth", "definitions", name)
        for missing in _missing(policy):
            yield RuleFinding(path, f"{policy.kind} needs {missing!r}")
        grant = policy.form.get("grant_type", "client_credentials")
        if grant != "client_credentials":
            hint = "leave it out"
            yield RuleFinding((*path, "form", "grant_type"), f"the grant is client_credentials, not {grant!r}", hint)
        endpoint = policy.token_endpoint
        if endpoint is not None and not endpoint.startswith(("https://", "http://", "${platform.config.")):
            yield RuleFinding((*path, "tokenEndpoint"), "the token endpoint is not an absolute URL", "write https://…")
        for n, anchor in enumerate(policy.trust_anchors):
            if not isinstance(anchor.get("pem"), str):
                yield RuleFinding((*path, "trustAnchors", n), "a trust anchor has its certificate as 'pem'")


def _missing(policy: ClientAuth) -> Iterator[str]:
    match policy.kind:
        case "bearerStatic":
            yield from ["tokenRef"] if policy.token_ref is None else []
        case "mtlsClient":
            yield from ["clientCertRef"] if policy.client_cert_ref is None else []
        case "oauth2ClientCredentials":
            yield from ["tokenEndpoint"] if policy.token_endpoint is None else []
            if policy.auth is None:
                yield "auth"
            elif policy.auth.method == "tlsClientAuth":
                yield from ["auth.clientCertRef"] if policy.auth.client_cert_ref is None else []
            elif policy.auth.method:
                yield from ["auth.clientSecretRef"] if policy.auth.client_secret_ref is None else []


def references(checking: CheckContext) -> Iterator[RuleFinding]:
    """Report policies that contain a secret instead of a reference such as `secret://name`."""
    for name, policy in checking.definition.spec.policies.http_client_auth.definitions.items():
        path = (*_POLICIES, "httpClientAuth", "definitions", name)
        auth = policy.auth
        secrets: list[tuple[Path, str | None]] = [
            (("tokenRef",), policy.token_ref),
            (("clientCertRef",), policy.client_cert_ref),
        ]
        secrets += [(("auth", "clientSecretRef"), auth.client_secret_ref)] if auth else []
        secrets += [(("auth", "clientCertRef"), auth.client_cert_ref)] if auth else []
        for place, value in secrets:
            if value is not None and secret_reference(value) is None:  # not shown: it may be the secret itself
                yield RuleFinding((*path, *place), "this is not a reference to a secret", "write secret://name")


def defaults(checking: CheckContext) -> Iterator[RuleFinding]:
    """Warn about default policies that do not exist."""
    spec = checking.definition.spec
    resilient, auth = spec.policies.http_resilience, spec.policies.http_client_auth
    http, calls = (*_POLICIES, "httpResilience"), (*_POLICIES, "httpClientAuth")
    used = ("spec", "defaults", "tasks", "resiliencePolicyRef")
    named: list[tuple[Path, str | None, Path, Collection[str]]] = [
        (used, spec.defaults.tasks.resilience_policy_ref, http, resilient.definitions),
        ((*http, "default"), resilient.default, http, resilient.definitions),
        ((*calls, "default"), auth.default, calls, auth.definitions),
    ]
    for path, name, among, policies in named:
        if name is not None and name not in policies:
            hint = did_you_mean(name, policies) or list_choices(policies)
            needs = (*among, "definitions")
            yield RuleFinding(path, f"there is no policy {name!r}, so none is applied", hint, needs=needs)


RULES = (
    Rule("policy-resilience", resilience),
    Rule("policy-auth", client_auth),
    Rule("policy-secret", references),
    Rule("policy-default", defaults, Severity.WARNING),
)
