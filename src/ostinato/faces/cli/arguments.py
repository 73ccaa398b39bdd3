"""Turn arguments and options, such as specs and actions, into the JSON that the API takes."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer

from ostinato.client import Client, Json
from ostinato.errors import OstinatoError, short_repr
from ostinato.when import read_spec
from ostinato.when.spec_text import parse_spec_text
from ostinato.when.times import named_zone
from ostinato.when.zones import Zone
from ostinato.when.zones import zone as load_zone

_CRON_ZONE = re.compile(r"^\s*(CRON_)?TZ=\S+\s+")
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="The most to show.")]


def read_json(text: str | None, option: str) -> Any:
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise OstinatoError(f"{option} is not JSON: {problem}") from None  # the text is not repeated: it may be secret


def read_object(text: str | None, option: str) -> Json | None:
    if text is None:
        return None
    value = read_json(text, option)
    if not isinstance(value, dict):
        kind = "a list" if isinstance(value, list) else "a single value"
        raise OstinatoError(f"""{option} is {kind}, not a JSON object; write '{{"customer": 7}}'""")
    return value


def read_number_or_object(text: str | None, option: str) -> int | Json | None:
    if text is None or text.lstrip().startswith("{"):
        return read_object(text, option)
    try:
        return int(text)
    except ValueError:
        raise OstinatoError(f"{option} {short_repr(text)} is neither a whole number nor a JSON object") from None


def read_when(text: str | None, tz: str) -> Json | None:
    """Return the spec in `text`, with the time zone `tz`, as JSON. If `tz` is "", the text alone decides the zone.
    Returns {} if `text` is `manual`, and None if `text` is None. Raises `OstinatoError` if only `tz` is given."""
    if text is None:
        if tz:
            raise OstinatoError("--tz belongs to a spec; give the spec, too")
        return None
    return {} if text.strip() == "manual" else parse_spec_text(text, tz=tz).to_json()


def read_other_when(schedule: Json, text: str | None, tz: str) -> Json | None:
    """Return the new spec for an update of `schedule`, as JSON. `text` and `tz` are options of the command.

    - If neither is given, return None: the spec does not change.
    - If only `tz` is given, return the old spec with the zone `tz`.
    - If `text` is `manual`, return {}.
    - Otherwise return the spec in `text`. If neither `text` nor `tz` names a zone, the spec keeps the zone that the old
      spec names.
    """
    before: Json = schedule["spec"]
    if text is None:
        return read_spec({**_without_zone(before), "tz": tz}).to_json() if tz else None
    if text.strip() == "manual":
        return {}
    spec = parse_spec_text(text, tz=tz)
    if named_zone(spec) is not None:
        return spec.to_json()
    zone = {"tz_data": before["tz_data"]} if "tz_data" in before else {"tz": zone_of(schedule).name}
    return read_spec({**spec.to_json(), **zone}).to_json() if _names_zone(before) else spec.to_json()


def _without_zone(spec: Json) -> Json:
    """Return a copy of the spec that names no time zone, neither in its own fields nor in a cron string."""
    others = {key: value for key, value in spec.items() if key not in ("tz", "tz_data", "cron")}
    lines = [_CRON_ZONE.sub("", line) for line in spec.get("cron", [])]
    return {**others, "cron": lines} if lines else others


def _names_zone(spec: Json) -> bool:
    return "tz" in spec or "tz_data" in spec or any("TZ=" in line for line in spec.get("cron", []))


def warnings_of(spec: Json | None) -> list[str]:
    """Return a note for each part of `spec` that is probably a mistake."""
    return [f"note: {warning}" for warning in read_spec(spec).check()] if spec else []


def read_action(text: str | None) -> str | Json | None:
    """Return the action in `text`: a job's name, or an object such as `{"http": {…}}`. Returns None if `text` is
    None."""
    return read_object(text, "the action") if text is not None and text.lstrip().startswith("{") else text


def zone_of(schedule: Json) -> Zone:
    """Return the zone in which a schedule's times are read and shown."""
    spec: Json = schedule["spec"]
    if "tz_data" in spec or any("TZ=" in line for line in spec.get("cron", [])):
        return read_spec(spec).compiled.zone
    return load_zone(spec.get("tz") or "UTC")


async def schedule_zone(client: Client, name: str) -> Zone:
    """Return the zone in which the times of the named schedule are read and shown."""
    return zone_of(await client.schedules.get(name, recent=0))


def say_note(answer: Json) -> None:
    """Print the `note` of an answer, such as "no node knows the job", to standard error."""
    if answer.get("note"):
        typer.echo(f"note: {answer['note']}", err=True)


def only_given(**parts: Any) -> Json:
    return {name: value for name, value in parts.items() if value is not None and value != []}
