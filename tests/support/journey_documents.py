"""Small journeys for the tests of this floor."""

from __future__ import annotations

from textwrap import dedent, indent

from ostinato.journeys.documents import read_document
from ostinato.journeys.language import Definition, read


def text(states: str, *, start: str = "a", kind: str = "Journey", spec: str = "") -> str:
    """A journey's text from its states, and the other fields of `spec`."""
    head = f"apiVersion: v1\nkind: {kind}\nmetadata:\n  name: example\n  version: 0.1.0\nspec:\n  start: {start}\n"
    return head + indent(dedent(spec).strip("\n"), "  ") + "\n  states:\n" + indent(dedent(states).strip("\n"), "    ")


def journey(states: str, *, start: str = "a", kind: str = "Journey", spec: str = "") -> Definition:
    definition, problems = read(read_document(text(states, start=start, kind=kind, spec=spec)))
    assert definition is not None, [str(one) for one in problems]
    return definition
