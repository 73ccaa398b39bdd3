"""Build the documentation page at /docs from the OpenAPI description.

The page has no script and loads nothing from other servers. The description itself is served here, too.
"""

from __future__ import annotations

import asyncio
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

router = APIRouter(include_in_schema=False)

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:62rem;padding:1rem 1.5rem;color:#222}
h1{font-size:1.5rem}h2{margin-top:2.2rem;border-bottom:1px solid #ddd}
details{border:1px solid #ddd;border-radius:6px;margin:.4rem 0;padding:.3rem .7rem}
summary{cursor:pointer}code,pre{font:13px/1.45 ui-monospace,monospace}
pre{background:#f6f6f6;padding:.6rem;overflow:auto;border-radius:4px}
.m{display:inline-block;min-width:4.2rem;font-weight:600}.GET{color:#0277bd}.POST{color:#2e7d32}
.PUT,.PATCH{color:#ef6c00}.DELETE{color:#c62828}.r{color:#777;font-size:.85em;float:right}
table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:.15rem .5rem;text-align:left;vertical-align:top}
"""


@router.get("/", openapi_extra={"x-role": "anyone"})
async def home() -> RedirectResponse:
    return RedirectResponse("/docs")


# Common paths, redirected to calls of the API, which check permissions.
ALIASES = {
    "/health": "/api/v1/health/ready",
    "/metrics": "/api/v1/metrics",
    "/openapi.json": "/api/v1/openapi.json",
}


async def elsewhere(request: Request) -> RedirectResponse:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(ALIASES[request.url.path] + query)


for _alias in ALIASES:
    router.add_api_route(_alias, elsewhere, openapi_extra={"x-role": "anyone"})


@router.get("/docs", response_class=HTMLResponse, openapi_extra={"x-role": "anyone"})
async def docs(request: Request) -> HTMLResponse:
    """Show every call of the API, with its parameters, its answers and the role it needs."""
    return HTMLResponse(page(await described(request)), headers={"Content-Security-Policy": _POLICY})


@router.get("/api/v1/openapi.json", openapi_extra={"x-role": "anyone"})
async def openapi(request: Request) -> JSONResponse:
    """Return the description of the API as data."""
    return JSONResponse(await described(request))


async def described(request: Request) -> dict[str, Any]:
    """Return the OpenAPI description of the API. The first call builds it in a thread, which takes half a second of CPU
    time. Later calls return the same description."""
    state = request.app.state
    if state.description is None or _has_failed(state.description):
        state.description = asyncio.create_task(asyncio.to_thread(request.app.openapi))
    description: dict[str, Any] = await asyncio.shield(state.description)
    return description


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)


_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"


def page(description: dict[str, Any]) -> str:
    groups: dict[str, list[str]] = {}
    for path, methods in description["paths"].items():
        for method, call in methods.items():
            tag = (call.get("tags") or ["other"])[-1]
            groups.setdefault(tag, []).append(_call(path, method.upper(), call))
    parts = [f"<h2>{escape(tag)}</h2>{''.join(calls)}" for tag, calls in groups.items()]
    shapes = description.get("components", {}).get("schemas", {})
    parts.append("<h2>shapes</h2>" + "".join(_shape(name, shape) for name, shape in sorted(shapes.items())))
    title = f"{escape(description['info']['title'])} API {escape(description['info']['version'])}"
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style><h1>{title}</h1>'
        f"<p>{escape(description['info'].get('description', ''))} The same as data: "
        f'<a href="/api/v1/openapi.json">openapi.json</a>.</p>{"".join(parts)}</html>'
    )


def table(description: dict[str, Any]) -> str:
    """Return a Markdown table of all calls, with the role that each needs."""
    rows = ["| call | role | what it does |", "|---|---|---|"]
    for path, methods in description["paths"].items():
        for method, call in methods.items():
            words = " ".join(call.get("description", "").split()) or call["summary"]
            rows.append(f"| `{method.upper()} {path}` | {call['x-role']} | {words} |")
    return "\n".join(rows)


def _call(path: str, method: str, call: dict[str, Any]) -> str:
    role = call.get("x-role", "")
    rows = "".join(
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{escape(p['in'])}</td><td>{_type(p.get('schema', {}))}</td>"
        f"<td>{escape(p.get('description', ''))}</td></tr>"
        for p in call.get("parameters", [])
    )
    table = f"<table><tr><th>parameter<th>in<th>type<th></tr>{rows}</table>" if rows else ""
    body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    takes = f"<p>takes {_type(body)}</p>" if body else ""
    answers = ", ".join(
        f"{code} {_type(content.get('schema', {}))}"
        for code, answer in call.get("responses", {}).items()
        for content in answer.get("content", {"": {}}).values()
        if code.startswith("2")
    )
    return (
        f'<details><summary><span class="m {method}">{method}</span><code>{escape(path)}</code>'
        f'<span class="r">{escape(role)}</span> {escape(call.get("summary", ""))}</summary>'
        f"<p>{escape(call.get('description', ''))}</p>{table}{takes}<p>answers {answers}</p></details>"
    )


def _shape(name: str, shape: dict[str, Any]) -> str:
    needed = shape.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code>{'' if field in needed else ' ?'}</td><td>{_type(kind)}</td>"
        f"<td>{escape(kind.get('description', ''))}</td></tr>"
        for field, kind in shape.get("properties", {}).items()
    )
    examples = "".join(f"<pre>{escape(str(one))}</pre>" for one in shape.get("examples", []))
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code></summary>'
        f"<p>{escape(shape.get('description', ''))}</p><table>{rows}</table>{examples}</details>"
    )


def _type(schema: dict[str, Any] | None) -> str:
    if not schema:
        return "anything"
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_type(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(f"<code>{escape(str(one))}</code>" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items'))}"
    kind = escape(str(schema.get("type", "anything")))
    return f"{kind} ({escape(schema['format'])})" if "format" in schema else kind
