"""XML becomes JSON by the documented mapping; bombs, entities and depths do not."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato.journeys.tasks.xml_decode import DEEPEST, LARGEST, MOST_ELEMENTS, PARSE_ERROR, XmlDecode
from tests.unit.journeys.tasks.calling import call_of, context, problem


def settings(**more: Any) -> dict[str, Any]:
    return {"sourceVar": "xml", "target": {"kind": "var"}, "resultVar": "out", **more}


@pytest.mark.parametrize(
    ("xml", "value"),
    [
        ("<a/>", {"a": None}),
        ("<a>text</a>", {"a": "text"}),
        ('<a b="1"/>', {"a": {"@b": "1"}}),
        ('<a b="1"> x </a>', {"a": {"@b": "1", "#text": " x "}}),
        ("<a><b>1</b><b>2</b><c/></a>", {"a": {"b": ["1", "2"], "c": None}}),
        ("<a>\n  <b>1</b> tail\n</a>", {"a": {"b": "1", "#text": "tail"}}),
        ("<a><b><c/></b><b/><b/></a>", {"a": {"b": [{"c": None}, None, None]}}),
        ('<s:a xmlns:s="urn:x"><s:b>1</s:b></s:a>', {"s:a": {"@xmlns:s": "urn:x", "s:b": "1"}}),
        ("<a>&lt;&#65;<![CDATA[<b>]]></a>", {"a": "<A<b>"}),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><a>\u00fc</a>", {"a": "\u00fc"}),
        ("<!-- c --><a><?pi x?>1</a>", {"a": "1"}),
    ],
)
def test_the_mapping(xml: str, value: Any) -> None:
    assert context(XmlDecode(), call_of(settings(), {"xml": xml}))["out"] == value


def test_where_it_is_written() -> None:
    values = {"xml": "<a>1</a>", "other": 1}
    at = {"kind": "context", "path": "in.there"}
    assert context(XmlDecode(), call_of(settings(target=at), values))["in"] == {"there": {"a": "1"}}
    root = {"sourceVar": "xml", "target": {"kind": "context"}}
    assert context(XmlDecode(), call_of(root, values)) == {"a": "1"}
    assert context(XmlDecode(), call_of({"sourceVar": "xml", "resultVar": "v"}, values))["v"] == {"a": "1"}


ENTITIES = "".join(f"<!ENTITY {b} '{('&' + a + ';') * 10}'>" for a, b in zip("abcdefghi", "bcdefghij", strict=True))
LAUGHS = f"<!DOCTYPE l [<!ENTITY a 'ha'>{ENTITIES}]><l>&j;</l>"


@pytest.mark.parametrize(
    "xml",
    [
        LAUGHS,
        "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>",
        "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://127.0.0.1/x'> %x;]><a/>",
        "<!DOCTYPE a SYSTEM 'http://127.0.0.1/x.dtd'><a/>",
        "<!DOCTYPE a><a/>",
        "<a>&undefined;</a>",
        "<a>" * (DEEPEST + 1) + "</a>" * (DEEPEST + 1),
        "<a>" * 100_000,
        "<a>" + "<b/>" * MOST_ELEMENTS + "</a>",
        "<a " + " ".join(f"b{n}='1'" for n in range(MOST_ELEMENTS)) + "/>",
        "<a>" + "x" * LARGEST + "</a>",
        "<a><b></a>",
        "<a/><b/>",
        "",
        "{}",
        "<a>\ud800</a><",
        None,
        5,
    ],
    ids=lambda one: str(one)[:20],
)
def test_what_is_not_decoded_is_a_problem_that_shows_nothing_of_it(xml: Any) -> None:
    fault = problem(XmlDecode(), call_of(settings(), {"xml": xml}))
    assert (fault.code, fault.internal) == (PARSE_ERROR, False)
    assert "passwd" not in fault.detail
    assert len(fault.detail) < 200
