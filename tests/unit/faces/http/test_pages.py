"""The API's own documentation page."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from tests.unit.faces.http.test_roles import operations
from tests.web import Api, run


def test_the_page_shows_every_call_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        found = await web.client.get("/docs")
        assert found.headers["content-type"].startswith("text/html")
        policy = found.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script" not in policy
        description = web.application.openapi()
        for method, path, role in operations(description):
            line = f'<span class="m {method}">{method}</span><code>{escape(path)}</code><span class="r">{role}</span>'
            assert line in found.text, f"{method} {path}"
        for name in description["components"]["schemas"]:
            assert f'id="{name}"' in found.text
        assert "<script" not in found.text
        assert re.findall(r'(?:src|href)="([^"#]*)', found.text) == ["/api/v1/openapi.json"] + [""] * found.text.count(
            'href="#'
        )
        assert "http://" not in found.text
        assert (await web.client.get("/")).headers["location"] == "/docs"

    run(main, tmp_path)
