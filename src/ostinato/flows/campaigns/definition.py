"""Read and check the definition of a campaign, the input of the function `agent-campaign`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from ostinato.engine.context import to_json
from ostinato.errors import OstinatoError, check_text, did_you_mean
from ostinato.flows.campaigns.model import CampaignRecord
from ostinato.flows.campaigns.options import CampaignOptions, read_options
from ostinato.flows.errors import DefinitionError
from ostinato.flows.model import MOST_METADATA
from ostinato.flows.read_values import read_object, read_truth, read_whole
from ostinato.flows.segments import Segment, check_segment
from ostinato.when.instants import Micros, read_instant

_NAMES = (
    "agent segment flow input metadata campaign_id schedule_id scheduled_for trigger_type run_attempt "
    "allow_session_bootstrap options"
).split()


@dataclass(frozen=True, slots=True)
class CampaignDefinition:
    """What a campaign sends, to which users and how. `given` is the input of the run as JSON values."""

    agent: str
    segment: Segment
    flow: str | None = None
    input: Mapping[str, Any] | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    campaign_id: str | None = None
    schedule_id: str | None = None
    scheduled_for: Micros | None = None
    trigger_type: str | None = None
    run_attempt: int | None = None
    allow_session_bootstrap: bool = False
    options: CampaignOptions = field(default_factory=CampaignOptions)
    given: Mapping[str, Any] = field(default_factory=dict)
    segment_id: str = ""

    def occurrence(self, run_id: str) -> str:
        """Return the campaign's unique key: the schedule's id and due time or, without a schedule, `run_id`."""
        if self.schedule_id is None:
            return f"run/{run_id}"
        return f"schedule/{self.schedule_id}/{self.scheduled_for}"


def read_definition(value: Mapping[str, Any]) -> CampaignDefinition:
    """Read the input of the function `agent-campaign`. Raises OstinatoError if a value is unknown or invalid."""
    unknown = sorted(set(value) - set(_NAMES))
    if unknown:
        raise OstinatoError(
            f"a campaign has no {unknown[0]!r}; {did_you_mean(unknown[0], _NAMES) or ', '.join(_NAMES)}"
        )
    check_text(value.get("agent"), "the campaign's agent")
    for name in ("flow", "campaign_id", "schedule_id", "trigger_type"):
        if value.get(name) is not None:
            check_text(value[name], f"the campaign's {name}")
    moment = value.get("scheduled_for")
    if moment is not None and (type(moment) is not int or moment < 0):
        moment = read_instant(moment, "the campaign's scheduled_for")
    if value.get("schedule_id") is not None and moment is None:
        raise OstinatoError("a campaign of a schedule has scheduled_for, the time of the occurrence")
    attempt = value.get("run_attempt")
    if attempt is not None:
        read_whole(attempt, "the campaign's run_attempt", 1, 1_000_000)
    for name in ("input", "metadata"):
        if value.get(name) is not None:
            read_object(value[name], f"the campaign's {name}")
    metadata = value.get("metadata") or {}
    if len(to_json(dict(metadata), "the campaign's metadata")) > MOST_METADATA:
        words = f"the campaign's metadata have more than {MOST_METADATA:,} bytes"
        raise DefinitionError(words, (("metadata",), words))
    segment = check_segment(value.get("segment"), "the campaign's segment")
    return CampaignDefinition(
        value["agent"],
        segment,
        value.get("flow"),
        value.get("input"),
        metadata,
        value.get("campaign_id"),
        value.get("schedule_id"),
        moment,
        value.get("trigger_type"),
        attempt,
        read_truth(value.get("allow_session_bootstrap", False), "the campaign's allow_session_bootstrap"),
        read_options(value.get("options"), "the campaign's options"),
        {name: value[name] for name in _NAMES if value.get(name) is not None},
        segment.id,
    )


def definition_of(campaign: CampaignRecord) -> CampaignDefinition:
    return read_definition(orjson.loads(campaign.definition))
