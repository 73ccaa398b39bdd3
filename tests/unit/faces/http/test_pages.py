"""The API's own documentation page."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from tests.support.web import Api, operations, run


def test_the_page_shows_every_call_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        answer = await web.client.get("/docs")
        assert answer.headers["content-type"].startswith("text/html")
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script" not in policy
        description = web.application.openapi()
        for method, path, role in operations(description):
            line = f'<span class="m {method}">{method}</span><code>{escape(path)}</code><span class="r">{role}</span>'
            assert line in answer.text, f"{method} {path}"
        for name in description["components"]["schemas"]:
            assert f'id="{name}"' in answer.text
        assert "<script" not in answer.text
        assert re.findall(r'(?:src|href)="([^"#]*)', answer.text) == ["/api/v1/openapi.json"] + [
            ""
        ] * answer.text.count('href="#')
        assert "http://" not in answer.text
        assert (await web.client.get("/")).headers["location"] == "/docs"

    run(main, tmp_path)
