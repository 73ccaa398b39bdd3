"""Define the arguments and options that several `ostinato agents` commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from ostinato.client import Json
from ostinato.errors import OstinatoError, short_repr
from ostinato.faces.cli.arguments import only_given, read_object
from ostinato.faces.cli.completion import agent_names, on_active_flows, segments

AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.", autocompletion=agent_names)]
_FORMS = "all, tag:NAME, active_since:DAYS, query:TEXT, resolver:NAME, users:A,B, or JSON"
SEGMENT = f"Who: {_FORMS}."
Segment = Annotated[str, typer.Argument(metavar="SEGMENT", help=SEGMENT, autocompletion=segments)]
Input = Annotated[str | None, typer.Option(help="The arguments of the flow: a JSON object.")]
Metadata = Annotated[str | None, typer.Option(help="What the turn is to know beside: a JSON object.")]
OnActiveFlow = Annotated[
    str | None,
    typer.Option(help="If a flow waits for the user: skip, defer or replace.", autocompletion=on_active_flows),
]
_NONE = "none"  # the value that overrides the agent's own option


def read_segment(text: str) -> Json:
    """Return a segment as JSON. `text` is JSON itself, or a type and a value, such as `tag:vip`."""
    if text.lstrip().startswith("{"):
        return read_object(text, "the segment") or {}
    kind, colon, value = text.partition(":")
    if kind == "all" and not colon:
        return {"type": "all"}
    match kind if value else None:
        case "tag":
            return {"type": "tag", "tag": value}
        case "active_since":
            if value.isascii() and value.isdigit() and len(value) < 10:
                return {"type": "active_since", "active_since_days": int(value)}
        case "query":
            return {"type": "custom_query", "query": value}
        case "resolver":
            return {"type": "custom_query", "resolver": value}
        case "users":
            return {"type": "users", "users": value.split(",")}
    raise OstinatoError(f"the segment {short_repr(text)} is none of {_FORMS}")


@dataclass(frozen=True)
class CampaignFlags:
    """The options of a campaign. An option that the user did not give is None. For such an option, the agent's own
    setting or the default applies."""

    max_recipients: Annotated[
        int | None, typer.Option(help="Refuse a larger audience, unless --confirmed. [default: 10000]")
    ] = None
    confirmed: Annotated[bool | None, typer.Option("--confirmed", help="Send to an audience of any size.")] = None
    in_flight: Annotated[int | None, typer.Option(help="How many turns go on at once. [default: 50]")] = None
    rate: Annotated[str | None, typer.Option(help="Messages in a period, such as 20/s or 600/m.")] = None
    quiet_hours: Annotated[
        str | None, typer.Option(help="21:00-09:00, in the zone of each recipient; none overrides the agent's.")
    ] = None
    local_time: Annotated[str | None, typer.Option(help="At this time of each recipient's day, such as 09:30.")] = None
    frequency_cap: Annotated[
        str | None, typer.Option(help="Messages to one person in a period, such as 2/7d; none overrides the agent's.")
    ] = None
    cancel_on_reply: Annotated[
        bool | None, typer.Option("--cancel-on-reply", help="Skip people who have written since it began.")
    ] = None
    require_opt_in: Annotated[bool | None, typer.Option("--require-opt-in", help="Only people who have opted in.")] = (
        None
    )
    expires_after: Annotated[
        str | None, typer.Option(help="Skip what has not begun by then, such as 12h. [default: 7d]")
    ] = None
    holdout: Annotated[float | None, typer.Option(help="Per cent that get nothing, to compare with.")] = None
    variants: Annotated[
        str | None, typer.Option(help='JSON: \'{"a": {"weight": 2, "input": {…}}, "b": {"flow": "other"}}\'.')
    ] = None
    on_active_flow: OnActiveFlow = None

    def as_options(self) -> Json:
        """Return the options that were given, as fields of a request."""
        options = only_given(**vars(self))
        if self.variants is not None:
            options["variants"] = read_object(self.variants, "--variants")
        if self.quiet_hours is not None:
            options["quiet_hours"] = _quiet_hours(self.quiet_hours)
        if self.frequency_cap is not None:
            options["frequency_cap"] = _frequency_cap(self.frequency_cap)
        return options


def _quiet_hours(text: str) -> Any:
    begin, _, end = text.partition("-")
    return None if text == _NONE else {"from": begin, "to": end}


def _frequency_cap(text: str) -> Any:
    if text == _NONE:
        return None
    messages, _, per = text.partition("/")
    if not (messages.isascii() and messages.isdigit() and len(messages) < 10 and per):
        raise OstinatoError(f"--frequency-cap {short_repr(text)} is not so many messages in a period, such as 2/7d")
    return {"messages": int(messages), "per": per}
