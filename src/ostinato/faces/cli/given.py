"""What people type for a moment, a JSON object, a spec or an action, brought to what the API takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import typer

from ostinato.client import Client, Json
from ostinato.errors import NotFound, OstinatoError, did_you_mean, shown
from ostinato.when import read_spec
from ostinato.when.compiled import named_zone
from ostinato.when.phrases import parse_phrase
from ostinato.when.zones import Zone
from ostinato.when.zones import zone as load_zone

if TYPE_CHECKING:
    from ostinato.faces.cli.target import Session


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


def read_other_when(schedule: Json, text: str | None, tz: str) -> Json | None:
    """Another spec for a schedule. It keeps the zone it has, unless another is named; --tz alone changes the zone."""
    before: Json = schedule["spec"]
    if text is None:
        return read_spec({**_without_zone(before), "tz": tz}).to_json() if tz else None
    if text.strip() == "manual":
        return {}
    made = parse_phrase(text, tz=tz)
    if named_zone(made) is not None:
        return made.to_json()
    own = {"tz_data": before["tz_data"]} if "tz_data" in before else {"tz": zone_of(schedule).name}
    return read_spec({**made.to_json(), **own}).to_json() if _names_zone(before) else made.to_json()


def _without_zone(spec: Json) -> Json:
    return {key: value for key, value in spec.items() if key not in ("tz", "tz_data")}


def _names_zone(spec: Json) -> bool:
    return "tz" in spec or "tz_data" in spec or any("TZ=" in line for line in spec.get("cron", []))


def warnings_of(spec: Json | None) -> list[str]:
    """What is odd about a spec, one note for each."""
    return [f"note: {warning}" for warning in read_spec(spec).check()] if spec else []


def read_action(text: str | None) -> str | Json | None:
    """A job's name, or an object such as `{"http": {…}}`."""
    return read_object(text, "the action") if text is not None and text.lstrip().startswith("{") else text


def zone_of(schedule: Json) -> Zone:
    """The zone that a schedule's times are read and shown in."""
    spec: Json = schedule["spec"]
    if "tz_data" in spec or any("TZ=" in line for line in spec.get("cron", [])):
        return read_spec(spec).compiled.zone
    return load_zone(spec.get("tz") or "UTC")


async def known(client: Client, name: str, recent: int = 0) -> Json:
    """A schedule; one that is not there is told from one that was nearly named."""
    try:
        return await client.schedules.get(name, recent=recent)
    except NotFound as problem:
        raise await suggesting(client, name, problem) from None


async def note_unknown_job(session: Session, action: str | Json | None) -> None:
    """A job that nobody knows may be declared later, or be a slip of the hand: say so beside the answer."""
    job = action.get("job") if isinstance(action, dict) else action
    if not isinstance(job, str):
        return
    names = [one["name"] for one in await session.client.jobs()]
    if job not in names:
        hint = did_you_mean(job, names)
        typer.echo(f"note: no node knows the job {job!r} yet{f'; {hint}' if hint else ''}", err=True)


async def suggesting(client: Client, name: str, problem: NotFound) -> NotFound:
    names = [one["name"] for one in await client.schedules.list(limit=1000)]
    hint = did_you_mean(name, names)
    return NotFound(f"{problem}; {hint}" if hint else str(problem))


def only_given(**parts: Any) -> Json:
    return {name: value for name, value in parts.items() if value is not None and value != []}
