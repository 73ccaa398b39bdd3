"""Preview which users a campaign would reach now, and why it would skip the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ostinato.flows.campaigns.agent_settings import CampaignsSetting
from ostinato.flows.campaigns.audience import read_audience
from ostinato.flows.campaigns.definition import CampaignDefinition
from ostinato.flows.campaigns.model import CampaignRecord
from ostinato.flows.campaigns.skips import foresee_skips
from ostinato.flows.definition import Agent
from ostinato.flows.turns import TransactionContext
from ostinato.store.contract import Operation, Store
from ostinato.when.instants import Micros, to_datetime

_SAMPLE = 10  # external ids in a preview


@dataclass(frozen=True, slots=True)
class Preview:
    """The numbers of users that a campaign would reach and skip now.

    - `recipients`: the number of users in the segment
    - `reachable`: how many of these users would get a message
    - `skipped`: a dict from reason to the number of users who would get no message
    - `sample`: the external ids of some reachable users
    - `refused`: whether there are more recipients than `max_recipients`, and `confirmed` is not set
    """

    recipients: int
    reachable: int
    skipped: Mapping[str, int]
    variants: Mapping[str, int]
    sample: tuple[str, ...]
    as_of: datetime
    refused: bool


async def preview_campaign(
    store: Store,
    place: TransactionContext,
    code: Agent | None,
    setting: CampaignsSetting,
    definition: CampaignDefinition,
    now: Micros,
) -> Preview:
    """Return which users a campaign would reach now. `code` is the agent, if this process has declared it."""
    campaign = CampaignRecord(
        "preview", place.namespace, place.agent, "", definition.campaign_id, None, None, "{}", as_of=now, created=now
    )
    skipped: Counter[str] = Counter()
    variants: Counter[str] = Counter()
    sample: list[str] = []
    total = 0
    options = definition.options
    async for page in read_audience(store, place, code, definition, now):
        if not page:
            continue
        total += len(page)

        def look(_: int, page: Any = page) -> Operation[dict[str, str]]:
            return (yield from foresee_skips(place, campaign, definition, setting, page))

        reasons = await store.read(look)
        for name, _ in page:
            if name in reasons:
                skipped[reasons[name]] += 1
                continue
            variant = options.assign(campaign.salt, name)
            if variant is not None:
                variants[variant] += 1
            if len(sample) < _SAMPLE:
                sample.append(name)
    refused = total > options.max_recipients and not options.confirmed
    reachable = total - sum(skipped.values())
    return Preview(total, reachable, dict(skipped), dict(variants), tuple(sample), to_datetime(now), refused)
