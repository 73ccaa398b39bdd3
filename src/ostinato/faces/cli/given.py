"""What people type for a moment, a JSON object, a spec or an action, brought to what the API takes."""

from __future__ import annotations

import json
from typing import Any

from ostinato.client import Client, Json
from ostinato.errors import NotFound, OstinatoError, did_you_mean, shown
from ostinato.when import format_instant
from ostinato.when.moments import read_moment
from ostinato.when.phrases import parse_phrase
from ostinato.when.zones import zone as load_zone


def read_object(text: str | None, option: str) -> Json | None:
    if text is None:
        return None
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise OstinatoError(f"{option} {shown(text)} is not JSON: {problem}") from None
    if not isinstance(found, dict):
        raise OstinatoError(f"""{option} {shown(text)} is not a JSON object; write '{{"customer": 7}}'""")
    return found


def read_when(text: str | None, tz: str) -> Json | None:
    """A spec as `ostinato when` takes it; `manual` for none."""
    if text is None:
        if tz:
            raise OstinatoError("--tz belongs to a spec; give the spec, too")
        return None
    return {} if text.strip() == "manual" else parse_phrase(text, tz=tz).to_json()


def read_action(text: str | None) -> str | Json | None:
    """A job's name, or an object such as `{"http": {…}}`."""
    return read_object(text, "the action") if text is not None and text.lstrip().startswith("{") else text


def read_time(text: str, option: str, zone: str = "UTC") -> str:
    """A moment; without an offset it is read on the wall of the zone."""
    return format_instant(read_moment(text, load_zone(zone), option))


def zone_of(schedule: Json) -> str:
    return str(schedule["spec"].get("zone") or "UTC")


async def known(client: Client, name: str, recent: int = 0) -> Json:
    """A schedule; one that is not there is told from one that was nearly named."""
    try:
        return await client.schedules.get(name, recent=recent)
    except NotFound as problem:
        raise await suggesting(client, name, problem) from None


async def suggesting(client: Client, name: str, problem: NotFound) -> NotFound:
    names = [one["name"] for one in await client.schedules.list(limit=1000)]
    hint = did_you_mean(name, names)
    return NotFound(f"{problem}; {hint}" if hint else str(problem))


def only_given(**parts: Any) -> Json:
    return {name: value for name, value in parts.items() if value is not None and value != []}
