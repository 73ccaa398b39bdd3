"""Count the recipients of a campaign by outcome, by reason and by variant."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import orjson

from ostinato.flows.campaigns.model import CampaignRecord
from ostinato.flows.campaigns.store import campaign_statement
from ostinato.store.contract import Operation

_PAGE = 10_000  # recipients that one statement counts


@dataclass(slots=True)
class Tally:
    """How many recipients of a campaign have each outcome, each reason and each variant.

    - `counts`: from outcome to number of recipients; recipients without an outcome count as `pending` or `started`
    - `reasons`: from reason to number of recipients
    - `variants`: from variant to number of recipients
    """

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)

    def store_in(self, campaign: CampaignRecord) -> None:
        """Set the counts in the record of a campaign that ends. The caller must write the record."""
        campaign.counts, campaign.total = orjson.dumps(dict(self.counts)).decode(), self.counts.total()
        campaign.tallies = orjson.dumps({"reasons": dict(self.reasons), "variants": dict(self.variants)}).decode()


def read_tally(campaign: CampaignRecord) -> Operation[Tally]:
    """Return how many recipients of a campaign have each outcome, each reason and each variant.

    A campaign that ends stores these counts. If they are stored, return them. If they are not stored, count the
    recipients now: the campaign is not over, or an older version of Ostinato has ended it.
    """
    if campaign.over and campaign.tallies is not None:
        stored = orjson.loads(campaign.tallies)
        counts = Counter(orjson.loads(campaign.counts))
        return Tally(counts, Counter(stored["reasons"]), Counter(stored["variants"]))
    return (yield from tally_recipients(campaign.id))


def tally_recipients(campaign_id: str) -> Operation[Tally]:
    tally, after = Tally(), ""
    while True:
        rows = yield campaign_statement("tally_recipients", id=campaign_id, after=after, limit=_PAGE)
        for status, outcome, reason, variant, number, last in rows:
            tally.counts[outcome if status == "done" else status] += number
            if reason:
                tally.reasons[reason] += number
            if variant:
                tally.variants[variant] += number
            after = max(after, last)
        if sum(row[4] for row in rows) < _PAGE:
            return tally
