"""Sign outgoing requests by the Standard Webhooks convention (standardwebhooks.com), and verify signatures.

The signature is `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. While a secret is being replaced, a
request has two signatures, and one valid signature is enough. Errors never contain a secret.
"""

from __future__ import annotations

import binascii
import hmac
import secrets as chance
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence

from ostinato.errors import OstinatoError, short_repr
from ostinato.when.instants import SECOND, Micros

PREFIX = "whsec_"
TOLERANCE: Micros = 300 * SECOND
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
_LONGEST_NUMBER = 15


class SignatureInvalid(OstinatoError):
    """Raised if a request has no valid signature, or if its timestamp is too far from the current time."""


def new_secret() -> str:
    """Return a new secret of 32 random bytes, as the text `whsec_<base64>`."""
    return PREFIX + b64encode(chance.token_bytes(32)).decode()


def read_key(secret: str) -> bytes:
    """Return the key in a secret of the form `whsec_<base64>`. Raises `OstinatoError` for any other form."""
    try:
        key = b64decode(secret.removeprefix(PREFIX), validate=True) if secret.startswith(PREFIX) else b""
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        raise OstinatoError("a signing secret is 'whsec_' and base64 after it; signing.new_secret() makes one")
    return key


def sign(secrets: Sequence[str], id: str, now: Micros, body: bytes) -> dict[str, str]:
    """Return the three headers that sign a body, with one signature per secret. Raises `OstinatoError` if there is no
    secret, if a secret does not have the form `whsec_<base64>`, or if `id` is not printable ASCII text without a
    dot."""
    if not secrets:
        raise OstinatoError("there is no secret to sign with")
    if not id or "." in id or not id.isascii() or not id.isprintable():
        raise OstinatoError(f"{short_repr(id)} cannot be signed as an id: it is ASCII text without a dot")
    timestamp = str(now // SECOND)
    signatures = " ".join(_signature(read_key(secret), id, timestamp, body) for secret in secrets)
    return dict(zip(HEADERS, (id, timestamp, signatures), strict=True))


def verify(
    secrets: Sequence[str], headers: Mapping[str, str], body: bytes, now: Micros, tolerance: Micros = TOLERANCE
) -> None:
    """Check that these headers have a signature of this body, made with one of the secrets. Raises `SignatureInvalid`
    if there is no such signature, or if the timestamp differs from `now` by more than `tolerance`."""
    values = {name.lower(): value for name, value in headers.items()}
    missing = [name for name in HEADERS if not values.get(name)]
    if missing:
        raise SignatureInvalid(f"the header {missing[0]} is missing")
    id, timestamp, signatures = (values[name] for name in HEADERS)
    # The signed text is `id.timestamp.body`. With a dot in the id, it could be split in another place.
    if "." in id:
        raise SignatureInvalid("webhook-id has a dot in it")
    if not timestamp.isascii() or not timestamp.isdigit() or len(timestamp) > _LONGEST_NUMBER:
        raise SignatureInvalid(f"webhook-timestamp {short_repr(timestamp)} is not a number of seconds since 1970")
    if abs(now - int(timestamp) * SECOND) > tolerance:
        raise SignatureInvalid(f"webhook-timestamp {timestamp} is more than {tolerance // SECOND} s from now")
    received = [one.encode() for one in signatures.split() if one.startswith("v1,")]
    expected = [_signature(read_key(secret), id, timestamp, body).encode() for secret in secrets]
    # Compare all, even after a match: the time that this takes must not show which signature was right.
    fits = [hmac.compare_digest(one, other) for one in received for other in expected]
    if not any(fits):
        raise SignatureInvalid("webhook-signature is not by a known secret, or the request was changed")


def _signature(key: bytes, id: str, timestamp: str, body: bytes) -> str:
    signed = b".".join((id.encode(), timestamp.encode(), body))
    return "v1," + b64encode(hmac.digest(key, signed, "sha256")).decode()
