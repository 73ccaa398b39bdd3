"""Signatures on what is sent out, by the Standard Webhooks convention (standardwebhooks.com): who receives a request
can check that it came from here, that nothing was changed, and that it is not an old one sent again.

The signature is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. While a secret is being replaced there
are two signatures, and one that fits is enough. A secret is never part of an error.
"""

from __future__ import annotations

import binascii
import hmac
import secrets as chance
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence

from ostinato.errors import OstinatoError, shown
from ostinato.when.instants import SECOND, Micros

PREFIX = "whsec_"
TOLERANCE: Micros = 300 * SECOND
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_LONGEST_NUMBER = 15


class SignatureInvalid(OstinatoError):
    """What came is not what someone with the secret sent, or not now."""


def new_secret() -> str:
    """A secret of 32 random bytes, as it is handed to the receiver."""
    return PREFIX + b64encode(chance.token_bytes(32)).decode()


def read_key(secret: str) -> bytes:
    """The key within `whsec_<base64>`."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else b""
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise OstinatoError("a signing secret is 'whsec_' and base64 after it; signing.new_secret() makes one")
    return key


def sign(secrets: Sequence[str], id: str, now: Micros, body: bytes) -> dict[str, str]:
    """The three headers that go with a body. With several secrets there is a signature by each, the first one first."""
    if not secrets:
        raise OstinatoError("there is no secret to sign with")
    if not id or "." in id or not id.isascii() or not id.isprintable():
        raise OstinatoError(f"{shown(id)} cannot be signed as an id: it is ASCII text without a dot")
    timestamp = str(now // SECOND)
    signatures = " ".join(_signature(read_key(secret), id, timestamp, body) for secret in secrets)
    return dict(zip(HEADERS, (id, timestamp, signatures), strict=True))


def verify(
    secrets: Sequence[str], headers: Mapping[str, str], body: bytes, now: Micros, tolerance: Micros = TOLERANCE
) -> None:
    """Raise `SignatureInvalid` unless one of the secrets signed exactly this, within the tolerance of now."""
    found = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in HEADERS if not found.get(name)]
    if missing:
        raise SignatureInvalid(f"the header {missing[0]} is missing")
    id, timestamp, signatures = (found[name] for name in HEADERS)
    # An id with a dot could be read as a shorter id, and what is signed would be split elsewhere.
    if "." in id:
        raise SignatureInvalid("webhook-id has a dot in it")
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > _LONGEST_NUMBER:
        raise SignatureInvalid(f"webhook-timestamp {shown(timestamp)} is not a number of seconds since 1970")
    if abs(now - int(timestamp) * SECOND) > tolerance:
        raise SignatureInvalid(f"webhook-timestamp {timestamp} is more than {tolerance // SECOND} s from now")
    given = [one.encode() for one in signatures.split() if one.startswith("v1,")]
    right = [_signature(read_key(secret), id, timestamp, body).encode() for secret in secrets]
    # All are compared, fit or not: how long it takes must not tell which of them was right.
    fits = [hmac.compare_digest(one, other) for one in given for other in right]
    if not any(fits):
        raise SignatureInvalid("webhook-signature is not by a known secret, or the request was changed")


def _signature(key: bytes, id: str, timestamp: str, body: bytes) -> str:
    signed = b".".join((id.encode(), timestamp.encode(), body))
    return "v1," + b64encode(hmac.digest(key, signed, "sha256")).decode()
