"""Who is calling: JWTs, API keys, client certificates, and everything that only looks like one."""

from __future__ import annotations

import base64
import hashlib
import hmac
import itertools
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
import trustme
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from ostinato.errors import OstinatoError
from ostinato.journeys.settings import ApiKeyProfile, JourneySettings, JwtProfile, MtlsProfile, hash_api_key
from ostinato.journeys.task_kind import Request
from ostinato.journeys.tasks.inbound.api_key import ApiKeyValidate
from ostinato.journeys.tasks.inbound.jwt import JwtValidate
from ostinato.journeys.tasks.inbound.mtls import MtlsValidate
from tests.support.service import Reply, Service
from tests.unit.journeys.tasks.calling import NOW, call_of, context, problem

S = NOW // 1_000_000
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())
SHARED = "a shared secret of sufficient length"
PEM = (
    RSA.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
)
GOOD = {"iss": "https://issuer", "aud": "me", "exp": S + 60, "sub": "u1"}
PROFILE = JwtProfile(issuer="https://issuer", audience="me", algorithms=("RS256",), keys={"k1": PEM})


def signed(claims: dict[str, Any], key: Any = RSA, alg: str = "RS256", kid: Any = "k1", **header: Any) -> str:
    return jwt.encode(claims, key, alg, {**({} if kid is None else {"kid": kid}), **header})


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def by_hand(header: dict[str, Any], claims: Any, sign: Callable[[bytes], bytes] = lambda data: b"") -> str:
    head = f"{b64(json.dumps(header).encode())}.{b64(json.dumps(claims).encode())}"
    return f"{head}.{b64(sign(head.encode()))}"


def judged(token: str | None, profile: JwtProfile = PROFILE, **more: Any) -> Any:
    kind = JwtValidate(JourneySettings(jwt={"default": profile}))
    request = None if token is None else Request({"authorization": f"Bearer {token}"})
    return context(kind, call_of({}, {"auth": {"status": 200}}, request=request, **more))["auth"]


def hmac_with_public_key(data: bytes) -> bytes:
    return hmac.new(PEM.encode(), data, hashlib.sha256).digest()


HS = {"alg": "HS256", "kid": "k1"}
DEEP: Any = "x"
for _ in range(200):
    DEEP = [DEEP]


def test_a_good_token_is_told_and_merged_with_what_is_there() -> None:
    auth = judged(signed(GOOD))
    assert auth["status"] == 200
    assert auth["jwt"]["claims"] == GOOD
    assert auth["jwt"]["header"]["kid"] == "k1"
    assert "problem" not in auth["jwt"]


@pytest.mark.parametrize(
    ("token", "code"),
    [
        (None, "JWT_TOKEN_MISSING"),
        ("", "JWT_TOKEN_MISSING"),
        ("a.b", "JWT_TOKEN_MALFORMED"),
        ("a.b.c", "JWT_TOKEN_MALFORMED"),
        ("x" * 20_000, "JWT_TOKEN_MALFORMED"),
        (by_hand({"alg": "none"}, GOOD), "JWT_SIG_INVALID"),
        (by_hand({"alg": "None", "kid": "k1"}, GOOD), "JWT_SIG_INVALID"),
        (by_hand({"alg": "RS256", "kid": "k1"}, GOOD), "JWT_SIG_INVALID"),
        (by_hand(HS, GOOD, hmac_with_public_key), "JWT_SIG_INVALID"),  # a public key is no shared secret
        (by_hand({"alg": ["RS256"]}, GOOD), "JWT_TOKEN_MALFORMED"),
        (by_hand({"kid": "k1"}, GOOD), "JWT_TOKEN_MALFORMED"),
        (by_hand({"alg": "RS256", "kid": 5}, GOOD), "JWT_TOKEN_MALFORMED"),
        (signed(GOOD, OTHER), "JWT_SIG_INVALID"),
        (signed(GOOD, kid="../../dev/null"), "JWT_KID_NOT_FOUND"),
        (signed(GOOD, kid="k1' OR 1=1 --"), "JWT_KID_NOT_FOUND"),
        (signed(GOOD, kid="K1"), "JWT_KID_NOT_FOUND"),
        (signed(GOOD, OTHER, jwk={"kty": "RSA"}, jku="http://evil/keys"), "JWT_SIG_INVALID"),
        (signed(GOOD, crit=["b64"]), "JWT_TOKEN_MALFORMED"),
        (signed(GOOD, crit=["x"], x=1), "JWT_TOKEN_MALFORMED"),
        (signed(GOOD | {"deep": DEEP}), "JWT_TOKEN_MALFORMED"),
        (signed(GOOD | {"exp": S - 31}), "JWT_EXPIRED"),
        (signed(GOOD | {"exp": "soon"}), "JWT_CLAIMS_INVALID"),
        (signed({"iss": "https://issuer", "aud": "me"}), "JWT_CLAIMS_INVALID"),
        (signed(GOOD | {"nbf": S + 31}), "JWT_NOT_YET_VALID"),
        (signed(GOOD | {"aud": "you"}), "JWT_AUDIENCE_MISMATCH"),
        (signed(GOOD | {"aud": ["you", 5]}), "JWT_AUDIENCE_MISMATCH"),
        (signed(GOOD | {"aud": {"me": 1}}), "JWT_AUDIENCE_MISMATCH"),
        (signed(GOOD | {"iss": "https://issuer/"}), "JWT_ISSUER_MISMATCH"),
    ],
    ids=itertools.count(),  # every process makes its own keys
)
def test_what_is_wrong_with_a_token_is_written_down_and_nothing_else(token: str | None, code: str) -> None:
    auth = judged(token)
    assert auth["status"] == 200
    assert list(auth["jwt"]) == ["problem"]
    assert auth["jwt"]["problem"]["code"] == code
    assert auth["jwt"]["problem"]["type"].startswith("https://journeyforge.dev/problem/plugins/jwt/")


def test_times_have_a_leeway() -> None:
    assert "claims" in judged(signed(GOOD | {"exp": S - 29, "nbf": S + 29}))["jwt"]


def test_a_key_is_used_with_algorithms_of_its_kind_alone() -> None:
    both = JwtProfile(algorithms=("RS256", "HS256", "ES256"), keys={"k1": PEM, "k2": "secret://s"})
    secrets = {"s": SHARED}
    assert "claims" in judged(signed(GOOD, SHARED, "HS256", "k2"), both, secrets=secrets)["jwt"]
    confused = by_hand(HS, GOOD, hmac_with_public_key)
    assert judged(confused, both, secrets=secrets)["jwt"]["problem"]["code"] == "JWT_SIG_INVALID"
    swapped = signed(GOOD, RSA, "RS256", "k2")
    assert judged(swapped, both, secrets=secrets)["jwt"]["problem"]["code"] == "JWT_SIG_INVALID"
    assert "claims" in judged(signed(GOOD, kid=None), both, secrets=secrets)["jwt"]  # the only key for RS256


def test_keys_are_fetched_kept_and_looked_for_again_when_they_rotate() -> None:
    def jwks(*keys: tuple[str, Any]) -> Reply:
        published = [
            {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": kid} for kid, key in keys
        ]
        more = {"kty": "oct", "k": b64(SHARED.encode()), "kid": "oct"}
        return Reply(200, json.dumps({"keys": [*published, more, {"kty": "?"}]}).encode())

    with Service(jwks(("k1", RSA))) as service:
        profile = JwtProfile(algorithms=("RS256", "HS256"), jwks_url=service.url)
        kind = JwtValidate(JourneySettings(jwt={"default": profile}))

        def code(token: str, now: int = NOW) -> Any:
            call = call_of({}, request=Request({"Authorization": f"bearer {token}"}), now=now)
            return context(kind, call)["auth"]["jwt"].get("problem", {}).get("code")

        late = {**GOOD, "exp": S + 9_000}
        assert [code(signed(late)), code(signed(late))] == [None, None]
        assert code(signed(late, SHARED, "HS256", "oct")) == "JWT_KID_NOT_FOUND"  # a published secret is none
        service.replies = [jwks(("k2", OTHER))]
        assert code(signed(late, OTHER, kid="k2")) == "JWT_KID_NOT_FOUND"  # not asked again within a minute
        assert len(service.received) == 1
        assert code(signed(late, OTHER, kid="k2"), NOW + 61_000_000) is None
        service.replies = [Reply(500)]
        assert code(signed(late, OTHER, kid="k2"), NOW + 700_000_000) is None  # old keys while their server is away


def test_what_this_engine_lacks_ends_the_run() -> None:
    call = call_of({"profile": "none"}, request=Request({}))
    assert problem(JwtValidate(), call).code == "JWT_CONFIG_PROFILE"
    assert problem(ApiKeyValidate(), call).internal
    call = call_of({"profile": "none", "allowAnyFromTrusted": True}, request=Request({}))
    assert problem(MtlsValidate(), call).code == "MTLS_CONFIG_PROFILE"


@pytest.mark.parametrize(
    ("source", "request_"),
    [
        ({"location": "header", "name": "X-Token"}, Request({"x-token": signed(GOOD)})),
        ({"location": "header", "name": "X-T", "scheme": "JWT"}, Request({"x-t": "jwt " + signed(GOOD)})),
        ({"location": "query", "name": "t"}, Request({}, query={"t": signed(GOOD)})),
        ({"location": "cookie", "name": "t"}, Request({}, cookies={"t": signed(GOOD)})),
    ],
)
def test_a_token_may_stand_elsewhere(source: dict[str, str], request_: Request) -> None:
    kind = JwtValidate(JourneySettings(jwt={"default": PROFILE}))
    assert "claims" in context(kind, call_of({"source": source, "authVar": "who"}, request=request_))["who"]["jwt"]


# API keys.

KEYS = JourneySettings(api_keys={"default": ApiKeyProfile(keys={"shop": hash_api_key("the key of the shop")})})


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (Request({"x-api-key": "the key of the shop"}), "shop"),
        (Request({"X-Api-Key": "the key of the shop "}), "APIKEY_INVALID"),
        (Request({"X-Api-Key": hash_api_key("the key of the shop")}), "APIKEY_INVALID"),
        (Request({"X-Api-Key": ""}), "APIKEY_MISSING"),
        (Request({}, query={"x-api-key": "the key of the shop"}), "APIKEY_MISSING"),
        (None, "APIKEY_MISSING"),
    ],
)
def test_an_api_key_is_known_by_its_hash(request_: Request | None, expected: str) -> None:
    after = context(ApiKeyValidate(KEYS), call_of({}, {"auth": 5}, request=request_))
    auth = after["auth"]["apiKey"]
    assert auth.get("keyId", auth.get("problem", {}).get("code")) == expected
    assert len(auth) == 1
    assert "the key" not in repr(after)


def test_a_profile_holds_hashes_and_one_source_of_keys() -> None:
    for make in (
        lambda: ApiKeyProfile(keys={"a": "the key itself"}),
        lambda: JwtProfile(),
        lambda: JwtProfile(keys={"a": PEM}, jwks={"keys": []}),
        lambda: JwtProfile(keys={"a": PEM}, algorithms=("none",)),
        lambda: JourneySettings(trusted_proxies=("10.0.0.1/8",)),
    ):
        with pytest.raises(OstinatoError) as refused:
            make()
        assert "the key itself" not in str(refused.value)


# Client certificates.

CA, STRANGER = trustme.CA(), trustme.CA()
LEAF = CA.issue_cert("client.example.com", common_name="client one")
FOREIGN = STRANGER.issue_cert("client.example.com")


def der(leaf: trustme.LeafCert) -> bytes:
    loaded = x509.load_pem_x509_certificate(leaf.cert_chain_pems[0].bytes())
    return loaded.public_bytes(serialization.Encoding.DER)


def header(certificate: bytes) -> str:
    return f":{base64.b64encode(certificate).decode()}:"


BETWEEN = CA.create_child_ca()
BELOW = BETWEEN.issue_cert("client.example.com", common_name="client two")
CHAIN = [x509.load_pem_x509_certificate(one.bytes()) for one in BELOW.cert_chain_pems]
FROM_PROXY = [header(one.public_bytes(serialization.Encoding.DER)) for one in CHAIN]
CERT = x509.load_der_x509_certificate(der(LEAF))
NOT_BEFORE = int(CERT.not_valid_before_utc.timestamp() * 1_000_000)
DURING = NOT_BEFORE + 3600 * 1_000_000
CHAIN_DURING = int(max(one.not_valid_before_utc.timestamp() for one in CHAIN) + 3600) * 1_000_000
SUBJECT = CERT.subject.rfc4514_string()
ANY = {"allowAnyFromTrusted": True}
TLS = Request({}, client_cert=der(LEAF))


def certified(settings: dict[str, Any], request: Request | None, now: int = DURING, revoked: Any = ()) -> Any:
    profile = MtlsProfile(trust_anchors=(CA.cert_pem.bytes().decode(),), revoked_serials=frozenset(revoked))
    kind = MtlsValidate(JourneySettings(mtls={"default": profile}, trusted_proxies=("10.1.0.0/16",)))
    verdict = context(kind, call_of(settings, request=request, now=now))["auth"]["mtls"]
    return verdict["problem"]["code"] if "problem" in verdict else verdict["subjectDn"]


@pytest.mark.parametrize(
    ("settings", "request_", "expected"),
    [
        (ANY, TLS, "allowed"),
        (ANY, Request({"Client-Cert": header(der(LEAF))}, peer="10.1.2.3"), "allowed"),
        (ANY, Request({"Client-Cert": header(der(LEAF))}, peer="10.2.2.3"), "MTLS_CERT_MISSING"),
        (ANY, Request({"Client-Cert": header(der(LEAF))}), "MTLS_CERT_MISSING"),
        (ANY, Request({}), "MTLS_CERT_MISSING"),
        (ANY, None, "MTLS_CERT_MISSING"),
        (ANY, Request({"Client-Cert": "nonsense"}, peer="10.1.2.3"), "MTLS_CERT_UNPARSEABLE"),
        (ANY, Request({"Client-Cert": header(b"nonsense")}, peer="10.1.2.3"), "MTLS_CERT_UNPARSEABLE"),
        (ANY, Request({}, client_cert=der(FOREIGN)), "MTLS_CERT_UNTRUSTED"),
        ({"allowSubjects": [SUBJECT]}, TLS, "allowed"),
        ({"allowSubjects": ["CN=somebody"]}, TLS, "MTLS_SUBJECT_DENIED"),
        ({"allowSans": [{"dns": "other.example.com"}, {"dns": "CLIENT.example.com"}]}, TLS, "allowed"),
        ({"allowSans": [{"uri": "client.example.com"}]}, TLS, "MTLS_SAN_DENIED"),
        ({"allowSerials": [f"{CERT.serial_number:x}"]}, TLS, "allowed"),
        ({"allowSerials": [f"0d{CERT.serial_number}"], "allowSubjects": [SUBJECT]}, TLS, "allowed"),
        ({"allowSerials": ["01"]}, TLS, "MTLS_SERIAL_DENIED"),
        ({**ANY, "trustAnchors": [{"pem": STRANGER.cert_pem.bytes().decode()}]}, TLS, "MTLS_CERT_UNTRUSTED"),
    ],
)
def test_a_certificate_is_trusted_and_allowed_or_says_why_not(
    settings: dict[str, Any], request_: Request | None, expected: str
) -> None:
    assert certified(settings, request_) == (SUBJECT if expected == "allowed" else expected)


@pytest.mark.parametrize(
    ("chain", "expected"),
    [
        (", ".join(FROM_PROXY[1:]), CHAIN[0].subject.rfc4514_string()),
        ("", "MTLS_CERT_UNTRUSTED"),
        (header(der(FOREIGN)), "MTLS_CERT_UNTRUSTED"),
        (FROM_PROXY[0], "MTLS_CERT_UNTRUSTED"),  # a leaf signs nothing
        (f"{FROM_PROXY[1]}, nonsense", "MTLS_CERT_UNPARSEABLE"),
        (", ".join(FROM_PROXY[1:] * 200), "MTLS_CERT_UNPARSEABLE"),  # longer than any
    ],
    ids=["whole", "missing", "of another", "leaf", "nonsense", "endless"],
)
def test_a_chain_leads_to_an_anchor_or_nowhere(chain: str, expected: str) -> None:
    assert len(FROM_PROXY) >= 2
    headers = {"Client-Cert": FROM_PROXY[0], **({"Client-Cert-Chain": chain} if chain else {})}
    assert certified(ANY, Request(headers, peer="10.1.2.3"), now=CHAIN_DURING) == expected
    assert certified(ANY, Request(headers, peer="10.2.2.3"), now=CHAIN_DURING) == "MTLS_CERT_MISSING"


def test_a_profile_allows_where_a_task_does_not_say() -> None:
    def judge(**more: Any) -> Any:
        profile = MtlsProfile(trust_anchors=(CA.cert_pem.bytes().decode(),), **more)
        kind = MtlsValidate(JourneySettings(mtls={"default": profile}))
        return context(kind, call_of({"profile": "default"}, request=TLS, now=DURING))["auth"]["mtls"]

    assert judge()["problem"]["code"] == "MTLS_SUBJECT_DENIED"  # nobody is allowed unless somebody says so
    assert judge(allow_any_from_trusted=True)["subjectDn"] == SUBJECT
    assert judge(allow_sans=(("dns", "client.example.com"),))["subjectDn"] == SUBJECT


def test_a_certificate_has_its_time() -> None:
    assert certified(ANY, TLS, NOT_BEFORE - 10_000_000) == "MTLS_CERT_UNTRUSTED"
    assert certified(ANY, TLS, revoked=[CERT.serial_number]) == "MTLS_CERT_REVOKED"
