"""The table of calls in the reference is the API's own description.

To write it again: `python -m tests.docs.test_http_reference`.
"""

from __future__ import annotations

import re
from pathlib import Path

from ostinato import Ostinato
from ostinato.faces.http.docs_page import table
from ostinato.faces.http.server import api

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "http.md"
PLACE = re.compile(r"(?<=<!-- routes -->\n).*?(?=<!-- end -->)", re.DOTALL)


def render() -> str:
    return f"\n{table(api(Ostinato('sqlite:///:memory:')).openapi())}\n\n"


def test_the_reference_has_every_call_with_its_role() -> None:
    place = PLACE.search(PAGE.read_text(encoding="utf-8"))
    assert place is not None
    assert place[0] == render(), "run `python -m tests.docs.test_http_reference`"


if __name__ == "__main__":
    PAGE.write_text(PLACE.sub(lambda _: render(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
