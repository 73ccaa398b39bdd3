"""Signatures by the Standard Webhooks convention."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.engine.http.signing import SignatureInvalid, new_secret, sign, verify
from ostinato.errors import OstinatoError
from ostinato.when.instants import SECOND

# The example that the convention's own libraries test themselves with.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
NOW = 1_614_265_330 * SECOND
BODY = b'{"test": 2432232314}'
SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_it_signs_as_the_convention_does() -> None:
    assert sign([SECRET], ID, NOW, BODY) == {
        "webhook-id": ID,
        "webhook-timestamp": "1614265330",
        "webhook-signature": SIGNATURE,
    }


@settings(deadline=None)
@given(body=st.binary(), at=st.integers(min_value=0, max_value=2**51))
def test_what_was_signed_verifies(body: bytes, at: int) -> None:
    secret = new_secret()
    verify([secret], sign([secret], "id", at, body), body, at)


@settings(deadline=None)
@given(body=st.binary(), other=st.binary())
def test_what_was_changed_does_not(body: bytes, other: bytes) -> None:
    if body != other:
        with pytest.raises(SignatureInvalid, match="changed"):
            verify([SECRET], sign([SECRET], ID, NOW, body), other, NOW)


def test_while_a_secret_is_replaced_either_one_is_enough() -> None:
    new, third = new_secret(), new_secret()
    headers = sign([new, SECRET], ID, NOW, BODY)
    verify([SECRET], headers, BODY, NOW)
    verify([new], headers, BODY, NOW)
    verify([third, new], sign([new], ID, NOW, BODY), BODY, NOW)
    with pytest.raises(SignatureInvalid):
        verify([third], headers, BODY, NOW)


def test_names_of_headers_are_read_in_any_case_and_other_versions_passed_over() -> None:
    headers = {name.title(): value for name, value in sign([SECRET], ID, NOW, BODY).items()}
    headers["Webhook-Signature"] = f"v1a,abc {headers['Webhook-Signature']}"
    verify([SECRET], headers, BODY, NOW)
    headers["Webhook-Signature"] = "v1a,abc"
    with pytest.raises(SignatureInvalid):
        verify([SECRET], headers, BODY, NOW)


@pytest.mark.parametrize(("shift", "fits"), [(-300, True), (300, True), (-301, False), (301, False)])
def test_an_old_one_sent_again_is_refused_and_so_is_one_from_the_future(shift: int, fits: bool) -> None:
    headers = sign([SECRET], ID, NOW, BODY)
    if fits:
        verify([SECRET], headers, BODY, NOW + shift * SECOND)
    else:
        with pytest.raises(SignatureInvalid, match="300 s from now"):
            verify([SECRET], headers, BODY, NOW + shift * SECOND)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("webhook-id", ""),
        ("webhook-id", "a.b"),
        ("webhook-id", "other"),
        ("webhook-timestamp", "soon"),
        ("webhook-timestamp", "²"),
        ("webhook-timestamp", "9" * 5000),
        ("webhook-timestamp", "1614265331"),
        ("webhook-signature", "v1,"),
        ("webhook-signature", SIGNATURE.removeprefix("v1,")),
        ("webhook-signature", "v1,ü"),
    ],
)
def test_headers_that_are_not_as_they_were_sent_are_refused(name: str, value: str) -> None:
    with pytest.raises(SignatureInvalid):
        verify([SECRET], {**sign([SECRET], ID, NOW, BODY), name: value}, BODY, NOW)


@pytest.mark.parametrize("secret", ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_no-base64!"])
def test_a_secret_of_another_form_is_refused_and_not_shown(secret: str) -> None:
    with pytest.raises(OstinatoError) as refused:
        sign([secret], ID, NOW, BODY)
    assert not secret.removeprefix("whsec_") or secret not in str(refused.value)


@pytest.mark.parametrize("id", ["", "a.b", "a\nb", "é"])
def test_an_id_that_could_be_read_otherwise_is_not_signed(id: str) -> None:
    with pytest.raises(OstinatoError, match="cannot be signed"):
        sign([SECRET], id, NOW, BODY)
