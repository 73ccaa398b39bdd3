"""Who may do what: every route with every kind of caller."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import BaseRoute, Route

from ostinato import Ostinato, OstinatoError
from ostinato.engine.access import Role, allows
from ostinato.faces.http.docs_page import ALIASES
from ostinato.faces.http.server import Listening, api, check_listening
from tests.support.web import V1, Api, described, operations, run

ANYONE = "anyone"
KINDS = ("none", "reader", "operator", "admin", "agent", "elsewhere", "expired", "revoked", "nonsense")


def test_every_route_declares_who_may_use_it() -> None:
    roles = {ANYONE, *(role.value for role in Role)}
    for method, path, role in operations(described()):
        assert role in roles, f"{method} {path} declares no role; pass **requires(Role.…)"


def test_every_route_is_in_the_description_or_is_a_page() -> None:
    """What is not described is not in the matrix below, so there must be nothing of the kind."""
    application = api(Ostinato("sqlite:///:memory:"))
    paths = {getattr(route, "path", "") for route in _flat(application.routes)} - {""}
    assert paths - set(application.openapi()["paths"]) == {"/", "/docs", f"{V1}/openapi.json", *ALIASES}


def _flat(routes: list[BaseRoute]) -> list[BaseRoute]:
    base_routes: list[BaseRoute] = []
    for route in routes:
        inner = getattr(route, "effective_route_contexts", None)
        base_routes += [route] if inner is None or isinstance(route, Route) else list(inner())
    return base_routes


def expected(role: str, kind: str) -> int | None:
    """The refusal, or None where the call is let in."""
    if role == ANYONE:
        return None
    match kind:
        case "none" | "expired" | "revoked" | "nonsense":
            return 401
        case "elsewhere":
            return 404
        case _:
            return None if allows(Role(kind), Role(role)) else 403


def test_each_caller_may_do_what_the_role_says_and_nothing_else(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        web.application.state.closing.set()  # so that a stream ends as soon as it was let in
        await web.app.create_namespace("other")
        tokens: dict[str, str | None] = {
            "none": None,
            "elsewhere": await web.token("admin", "other"),
            "expired": await web.token("admin", expires_in="1us"),
            "nonsense": "ost_" + "0" * 26 + "_" + "x" * 43,
        }
        for role in Role:
            # Namespaces are the business of those who belong to none.
            tokens[role.value] = await web.token(role.value, None if role is Role.ADMIN else "default")
        gone, info = await web.app.create_token("admin")
        await web.app.revoke_token(info.id)
        tokens["revoked"] = gone
        wrong = []
        for method, path, needed in operations(web.application.openapi()):
            for kind in KINDS:
                web.application.state.door._failures.clear()
                status = await ask(web, method, path, tokens[kind], "default" if kind == "elsewhere" else None)
                wanted = expected(needed or "", kind)
                if status != wanted if wanted is not None else status in (401, 403):
                    wrong.append(f"{method} {path} ({needed}) as {kind}: {status}, not {wanted or 'let in'}")
        assert not wrong, "\n".join(wrong)

    run(main, tmp_path, listening=Listening(require_token=True))


async def ask(web: Api, method: str, path: str, token: str | None, namespace: str | None) -> int:
    filled = re.sub(r"\{(\w+)\}", "nothing", path).removeprefix(V1)
    query = f"?namespace={namespace}" if namespace else ""
    body: Any = None if method in ("GET", "DELETE") else {}
    return (await web.call(method, filled + query, body, token=token)).status_code


def test_on_loopback_no_token_is_the_admin_and_a_wrong_one_is_refused(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        assert (await web.get("/tokens")).status_code == 200
        assert (await web.get("/tokens", token="wrong")).status_code == 401

    run(main, tmp_path)


def test_a_token_of_one_namespace_makes_no_namespaces_and_no_tokens_for_others(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await web.app.create_namespace("other")
        admin, _ = await web.token("admin", "other"), await web.token("reader")
        assert (await web.post("/namespaces", {"name": "third"}, token=admin)).status_code == 403
        assert (await web.call("DELETE", "/namespaces/other", token=admin)).status_code == 403
        token = (await web.post("/tokens", {"role": "admin", "namespace": "default"}, token=admin)).json()
        assert token["namespace"] == "other"
        all_of_them = {one.id for one in await web.app.tokens()}
        seen = {one["id"] for one in (await web.get("/tokens", token=admin)).json()["items"]}
        assert token["id"] in seen < all_of_them | {token["id"]}

    run(main, tmp_path)


def test_beyond_loopback_there_must_be_a_token_first(tmp_path: Path) -> None:
    async def main(web: Api) -> None:
        await check_listening(web.app, Listening())
        outside = Listening(host="0.0.0.0")
        with pytest.raises(OstinatoError, match="there is no token yet"):
            await check_listening(web.app, outside)
        _, info = await web.app.create_token("admin")
        await check_listening(web.app, outside)
        await web.app.revoke_token(info.id)
        with pytest.raises(OstinatoError, match="there is no token yet"):
            await check_listening(web.app, outside)

    run(main, tmp_path)
