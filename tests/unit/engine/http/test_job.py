"""What the built-in job `http` takes, and what it reads in answers."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest
from hypothesis import given as given_by
from hypothesis import settings
from hypothesis import strategies as st

from ostinato.engine.http.egress import Egress, EgressResponse
from ostinato.engine.http.job import check_http, http_handler, read_retry_after, text_of
from ostinato.engine.http.secrets import Resolved
from ostinato.errors import OstinatoError
from ostinato.when.instants import SECOND, read_instant

URL = "https://hooks.example/path"
NOW = read_instant("2026-01-01T00:00:00Z", "now")


@pytest.mark.parametrize(
    "options",
    [
        {"url": URL},
        {"url": "secret://whole-url"},
        {"url": f"{URL}/secret://token", "method": "get", "headers": None, "expect": None},
        {"url": URL, "json": [1], "sign": "secret://key", "timeout": 5, "retry_on": ["5xx", 404], "redirects": 3},
        {"url": URL, "body": "text", "sign": ["secret://new", "secret://old"], "keep": ["X-Rate"]},
    ],
)
def test_what_can_be_called_is_taken(options: dict[str, Any]) -> None:
    check_http(options)
    http_handler(Egress()).check(options)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "url None is not a URL"),
        ({"url": "hooks.example"}, "it has no scheme"),
        ({"url": "ftp://hooks.example"}, "only http and https"),
        ({"url": "https://me:word@hooks.example"}, "a user or a password"),
        ({"url": URL, "header": {}}, "there is no 'header'; did you mean 'headers'?"),
        ({"url": URL, "zzz": 1}, "there is no 'zzz'; there are url, method"),
        ({"url": URL, "ctx": 1}, "there is no 'ctx'"),
        ({"url": URL, "egress": 1}, "there is no 'egress'"),
        ({"url": URL, "method": "PSOT"}, "did you mean 'POST'?"),
        ({"url": URL, "method": "CONNECT"}, "there are GET"),
        ({"url": URL, "method": 1}, "method 1 is unknown"),
        ({"url": URL, "headers": ["a"]}, "not an object"),
        ({"url": URL, "headers": {"X": "a\r\nEvil: b"}}, "not one line of text"),
        ({"url": URL, "headers": {"X": 1}}, "not one line of text"),
        ({"url": URL, "headers": {"X\n": "a"}}, "not the name of a header"),
        ({"url": URL, "headers": {"Host": "a"}}, "set by the connection"),
        ({"url": URL, "headers": {"a": "1", "A": "2"}}, "given twice"),
        ({"url": URL, "headers": {"Ostinato-Run": "1"}}, "leave it out"),
        ({"url": URL, "headers": {"Webhook-Id": "1"}, "sign": "secret://a"}, "set by sign="),
        ({"url": URL, "json": 1, "body": "a"}, "give one of them"),
        ({"url": URL, "body": {"a": 1}}, "there is json="),
        ({"url": URL, "sign": []}, "sign is a reference"),
        ({"url": URL, "sign": True}, "sign is a reference"),
        ({"url": URL, "timeout": "soon"}, "timeout 'soon' is not a duration"),
        ({"url": URL, "timeout": 0}, "greater than zero"),
        ({"url": URL, "timeout": "2h"}, "at most 1 hour"),
        ({"url": URL, "retry_on": 500}, "retry_on=[429, '5xx']"),
        ({"url": URL, "retry_on": ["6xx"]}, "'6xx' is not a status"),
        ({"url": URL, "expect": [True]}, "True is not a status"),
        ({"url": URL, "redirects": 11}, "from 0 to 10"),
        ({"url": URL, "keep": "X-Rate"}, "not a list"),
        ({"url": URL, "json": {"a": ["secret://"]}}, "names no secret"),
    ],
)
def test_what_cannot_be_called_is_refused_with_what_would_be_right(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OstinatoError) as refused:
        check_http(options)
    assert says in str(refused.value)
    assert str(refused.value).startswith("http: ")


def test_a_key_in_place_of_its_reference_is_refused_and_not_shown() -> None:
    with pytest.raises(OstinatoError) as refused:
        check_http({"url": URL, "sign": "whsec_aHVzaA=="})
    assert "aHVzaA" not in str(refused.value)


def test_what_is_nested_beyond_measure_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(OstinatoError, match="nested more than 100 levels deep"):
        check_http({"url": URL, "json": deep})


def test_a_password_in_a_url_is_not_repeated() -> None:
    with pytest.raises(OstinatoError) as refused:
        check_http({"url": "https://me:hush@hooks.example"})
    assert "hush" not in str(refused.value)


@settings(deadline=None)
@given_by(
    st.dictionaries(
        st.sampled_from("url method headers json body sign timeout retry_on expect redirects keep".split()),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        ),
    )
)
def test_only_an_error_that_people_can_read_comes_out(options: dict[str, Any]) -> None:
    try:
        check_http({"url": URL, **options})
    except OstinatoError as problem:
        assert str(problem).startswith("http: ")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 0),
        ("999999", 86_400),
        ("9" * 5000, 86_400),
        ("Fri, 01 Jan 2100 00:00:00 GMT", 86_400),
        ("soon", None),
        ("-5", None),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_the_pause_a_server_asks_for_is_read_and_bounded(value: str | None, seconds: int | None) -> None:
    assert read_retry_after(value, NOW) == (None if seconds is None else seconds * SECOND)


@pytest.mark.parametrize("charset", "punycode idna utf-7 unicode_escape base64 zlib nonsense utf-8".split())
def test_an_answer_in_a_charset_that_takes_long_is_read_as_utf_8(charset: str) -> None:
    content = b"a-" + b"\xc3\xa9" + b"zz99" * 50_000
    answer = EgressResponse(200, httpx.Headers({"content-type": f"text/plain; charset={charset}"}), content, False, 0)
    begin = time.process_time()
    assert (text_of(answer, Resolved(None, frozenset())) or "").startswith("a-ézz99")
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("charset", "latin-1 windows-1252 utf-16 Shift_JIS euc-jp gb18030 koi8-r iso-8859-15".split())
def test_an_answer_is_read_in_the_charset_that_it_names(charset: str) -> None:
    text = "ж日" if charset in ("Shift_JIS", "euc-jp", "gb18030") else "ж" if charset == "koi8-r" else "abc"
    headers = httpx.Headers({"content-type": f"text/plain; charset={charset}"})
    answer = EgressResponse(200, headers, text.encode(charset), False, 0)
    assert text_of(answer, Resolved(None, frozenset())) == text
