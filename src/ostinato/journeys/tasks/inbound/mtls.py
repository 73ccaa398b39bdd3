"""Run the task `mtlsValidate:v1`, which checks a client certificate. The certificate comes from the server's TLS, or
from the header `Client-Cert` (RFC 9440) of a trusted proxy. From any other peer the header is ignored."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import ExtendedKeyUsageOID
from cryptography.x509.verification import Criticality, ExtensionPolicy, PolicyBuilder, Store, VerificationError

from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import boolean, key, list_of, of, text
from ostinato.journeys.problems import Severity
from ostinato.journeys.settings import JourneySettings, MtlsProfile
from ostinato.journeys.task_kind import Fault, Request, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.inbound.shared import (
    CallerDenied,
    InboundSettings,
    Misconfigured,
    authenticate,
    profile_fault,
    read_value,
    unknown_profile,
)
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.model import Json
from ostinato.when.instants import to_datetime

LONGEST = 64 << 10  # characters of a header
_MISSING = CallerDenied("MTLS_CERT_MISSING", "No client certificate was shown")
_UNPARSEABLE = CallerDenied("MTLS_CERT_UNPARSEABLE", "The client certificate cannot be read")


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    pem: str = key("pem", text())


@dataclass(frozen=True, slots=True, kw_only=True)
class San:
    dns: str | None = key("dns", text(), None)
    ip: str | None = key("ip", text(), None)
    uri: str | None = key("uri", text(), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MtlsSettings(InboundSettings):
    trust_anchors: tuple[Anchor, ...] = key("trustAnchors", list_of(of(Anchor)), ())
    allow_any: bool = key("allowAnyFromTrusted", boolean, False)
    allow_subjects: tuple[str, ...] = key("allowSubjects", list_of(text()), ())
    allow_sans: tuple[San, ...] = key("allowSans", list_of(of(San)), ())
    allow_serials: tuple[str, ...] = key("allowSerials", list_of(text()), ())


@dataclass(slots=True)
class MtlsValidate:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "mtlsValidate"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return check_settings(MtlsSettings, settings, self._faults)

    def _faults(self, settings: MtlsSettings) -> Iterator[Fault]:
        for n, anchor in enumerate(settings.trust_anchors):
            try:
                x509.load_pem_x509_certificates(anchor.pem.encode())
            except ValueError:
                yield Fault("mtls-anchor", ("trustAnchors", n, "pem"), "this is not a certificate as PEM")
        for n, san in enumerate(settings.allow_sans):
            if sum(name is not None for name in (san.dns, san.ip, san.uri)) != 1:
                yield Fault("mtls-san", ("allowSans", n), "a name is one of dns, ip and uri")
        profile = self.settings.mtls.get(settings.profile)
        if not settings.trust_anchors:
            yield from profile_fault(settings.profile, self.settings.mtls)
        if not has_allow_rule(settings) and not (profile and has_allow_rule(with_profile_rules(settings, profile))):
            hint = "write allowAnyFromTrusted: true, or whom it allows, here or in the profile"
            yield Fault("mtls-nobody", (), "it allows nobody", hint, Severity.WARNING)

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(MtlsSettings, call.settings)
        return await authenticate(call, settings, "mtls", self._validate(call, settings))

    async def _validate(self, call: TaskCall, settings: MtlsSettings) -> dict[str, Any]:
        profile = self.settings.mtls.get(settings.profile)
        if profile is None and not settings.trust_anchors:
            raise unknown_profile(settings.profile, self.settings.mtls, "MTLS")
        profile = profile or MtlsProfile()
        anchors = _anchors([*(one.pem for one in settings.trust_anchors)] or profile.trust_anchors)
        certificate, between = self._read_certificate(call.request)
        if certificate.serial_number in profile.revoked_serials:
            raise CallerDenied("MTLS_CERT_REVOKED", "The client certificate is revoked", 403)
        check_trust(certificate, between, anchors, to_datetime(call.now))
        check_allowed(certificate, settings if has_allow_rule(settings) else with_profile_rules(settings, profile))
        return {
            "subjectDn": certificate.subject.rfc4514_string(),
            "issuerDn": certificate.issuer.rfc4514_string(),
            "fingerprintSha256": certificate.fingerprint(SHA256()).hex(),
        }

    def _read_certificate(self, request: Request | None) -> tuple[x509.Certificate, list[x509.Certificate]]:
        if request is None:
            raise _MISSING
        if request.client_cert is not None:
            return _read(request.client_cert), []
        header = read_value(request, "header", "Client-Cert")
        if header is None or not self.settings.trusts(request.peer):
            raise _MISSING
        chain = read_value(request, "header", "Client-Cert-Chain") or ""
        if len(header) + len(chain) > LONGEST:
            raise _UNPARSEABLE
        return _read(_decode_bytes(header)), [_read(_decode_bytes(one)) for one in chain.split(",") if one.strip()]


def _decode_bytes(item: str) -> bytes:
    """Decode a byte sequence of RFC 8941, which is base64 between colons. Raise `CallerDenied` if it is invalid."""
    inner = item.strip()
    if len(inner) < 3 or inner[0] != ":" or inner[-1] != ":":
        raise _UNPARSEABLE
    try:
        return base64.b64decode(inner[1:-1], validate=True)
    except binascii.Error:
        raise _UNPARSEABLE from None


def _read(der: bytes) -> x509.Certificate:
    try:
        return x509.load_der_x509_certificate(der)
    except ValueError:
        raise _UNPARSEABLE from None


def _anchors(texts: Sequence[str]) -> list[x509.Certificate]:
    try:
        anchors = [one for pem in texts for one in x509.load_pem_x509_certificates(pem.encode())]
    except ValueError:
        raise Misconfigured("MTLS_CONFIG_ANCHORS", "a trust anchor is not a certificate as PEM") from None
    if not anchors:
        raise Misconfigured("MTLS_CONFIG_ANCHORS", "no trust anchors are configured")
    return anchors


def check_trust(
    certificate: x509.Certificate, between: Sequence[x509.Certificate], anchors: list[x509.Certificate], now: datetime
) -> None:
    """Raise `CallerDenied` if the certificate is not trusted. To be trusted, it must be valid at `now`, clients must be
    allowed to use it, and the certificates in `between` must lead from it to one of `anchors`."""
    people = ExtensionPolicy.permit_all().may_be_present(x509.ExtendedKeyUsage, Criticality.AGNOSTIC, _for_clients)
    verifier = (
        PolicyBuilder()
        .store(Store(anchors))
        .time(now.replace(tzinfo=None))
        .extension_policies(ca_policy=ExtensionPolicy.webpki_defaults_ca(), ee_policy=people)
        .build_client_verifier()
    )
    try:
        verifier.verify(certificate, list(between))
    except (VerificationError, ValueError):
        raise CallerDenied("MTLS_CERT_UNTRUSTED", "The client certificate is not trusted", 403) from None


def _for_clients(_: object, __: x509.Certificate, usage: x509.ExtendedKeyUsage | None) -> None:
    allowed = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
    if usage is not None and not allowed & set(usage):
        raise ValueError("not for clients")


def has_allow_rule(settings: MtlsSettings) -> bool:
    return bool(settings.allow_any or settings.allow_subjects or settings.allow_sans or settings.allow_serials)


def with_profile_rules(settings: MtlsSettings, profile: MtlsProfile) -> MtlsSettings:
    """Return a copy of `settings` that has the `allow_…` rules of `profile`."""
    return replace(
        settings,
        allow_any=profile.allow_any_from_trusted,
        allow_subjects=profile.allow_subjects,
        allow_sans=tuple(San(**{kind: value}) for kind, value in profile.allow_sans),
        allow_serials=profile.allow_serials,
    )


def check_allowed(certificate: x509.Certificate, settings: MtlsSettings) -> None:
    """Raise `CallerDenied` if the certificate is not allowed. If `settings.allow_any` is true, every certificate is
    allowed. Otherwise the certificate must match each `allow_…` list that is not empty. If all lists are empty, no
    certificate is allowed."""
    if settings.allow_any:
        return
    if settings.allow_subjects or not (settings.allow_sans or settings.allow_serials):
        wanted = {_normalize_subject(one) for one in settings.allow_subjects}
        if certificate.subject.rfc4514_string() not in wanted:
            raise CallerDenied("MTLS_SUBJECT_DENIED", "The certificate's subject is not allowed", 403)
    if settings.allow_sans and not _san_keys(certificate) & {_san_key(one) for one in settings.allow_sans}:
        raise CallerDenied("MTLS_SAN_DENIED", "None of the certificate's names is allowed", 403)
    serial = certificate.serial_number
    if settings.allow_serials and not any(_read_serial(one) == serial for one in settings.allow_serials):
        raise CallerDenied("MTLS_SERIAL_DENIED", "The certificate's serial number is not allowed", 403)


def _normalize_subject(text: str) -> str:
    """Return a subject in the form of RFC 4514, so that equal subjects are equal texts. An invalid subject is returned
    as it is."""
    try:
        return x509.Name.from_rfc4514_string(text).rfc4514_string()
    except ValueError:
        return text


def _san_keys(certificate: x509.Certificate) -> set[tuple[str, str]]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return set()
    return {
        *(("dns", one.lower()) for one in names.get_values_for_type(x509.DNSName)),
        *(("ip", str(one)) for one in names.get_values_for_type(x509.IPAddress)),
        *(("uri", one) for one in names.get_values_for_type(x509.UniformResourceIdentifier)),
    }


def _san_key(san: San) -> tuple[str, str]:
    return ("dns", san.dns.lower()) if san.dns else ("ip", san.ip) if san.ip else ("uri", str(san.uri))


def _read_serial(text: str) -> int | None:
    """Read a serial number: hexadecimal, or decimal after `0d`. Ignore colons. Return None if it is invalid."""
    plain = text.replace(":", "").lower()
    try:
        return int(plain[2:], 10) if plain.startswith("0d") else int(plain, 16)
    except ValueError:
        return None
