"""Define the records of campaigns and of their recipients, and the statuses and names of campaigns."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.when.instants import Micros

CAMPAIGN_FUNCTION = "agent-campaign"  # the durable function that runs a campaign
CONTROL = "campaign"  # the name of the message that wakes a campaign whose status has changed
KEY = "campaign/"  # begins the keys of turns that campaigns start; the id of the campaign follows
PRIORITY = -10  # of sessions that campaigns open: lower than for messages and for schedules of one user

STATUSES = ("resolving", "sending", "paused", "stopping", "stopped", "done")
OVER = ("stopped", "done")  # statuses of campaigns that have ended
STOPPED = ("stopping", "stopped")  # statuses in which a campaign sends no message


@dataclass(slots=True)
class CampaignRecord:
    """The row of a campaign.

    - `id`: the id of the campaign's run
    - `definition`: the definition of the campaign, as JSON
    - `status`: one of `STATUSES`
    - `as_of`: the time for which the audience is resolved, in microseconds since 1970
    - `arrival`: the state of the campaign's rate limit, in microseconds since 1970 (see `Rate`)
    - `resolution`: the id of the latest attempt to resolve the audience; no other attempt may store recipients
    - `counts`: how many recipients have each outcome, as JSON; `{}` until the campaign is over
    - `tallies`: how many recipients have each reason and each variant, as JSON; None until the campaign is over
    """

    id: str
    namespace: str
    agent: str
    occurrence: str
    campaign_id: str | None
    schedule_id: str | None
    scheduled_for: Micros | None
    definition: str
    status: str = "resolving"
    reason: str | None = None
    total: int = 0
    as_of: Micros = 0
    arrival: Micros = 0
    created: Micros = 0
    resolved: Micros | None = None
    finished: Micros | None = None
    outcome: str | None = None
    counts: str = "{}"
    actor: str | None = None
    resolution: str | None = None
    tallies: str | None = None  # None if the campaign is not over, or an older version of Ostinato has ended it
    sent_id: str | None = None  # the id with which it was sent

    @property
    def over(self) -> bool:
        return self.status in OVER

    @property
    def salt(self) -> str:
        """A text that is hashed together with a user's external id. The hash decides which variant the user gets, and
        whether the user is in the holdout group."""
        return self.campaign_id or self.schedule_id or self.id


@dataclass(slots=True)
class RecipientRecord:
    """The row of a campaign's recipient.

    - `status`: `pending`, `started` or `done`
    - `due`: when the recipient's turn may begin, in microseconds since 1970
    - `reason`: why a pending recipient waits, or why a done recipient has this outcome; None, if there is no reason
    - `delivered`: the number of messages that the recipient got
    """

    campaign_id: str
    external_id: str
    namespace: str
    user_id: str | None
    status: str = "pending"
    due: Micros = 0
    variant: str | None = None
    outcome: str | None = None
    reason: str | None = None
    turn_id: str | None = None
    session_id: str | None = None
    started: Micros | None = None
    finished: Micros | None = None
    delivered: int = 0
