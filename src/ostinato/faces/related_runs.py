"""Find the runs that an event or a delivery is about.

If a read guard hides such a run, it also hides the event or the delivery.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.webhooks import JOB as DELIVERY


def runs_of_event(name: str, subject: str, data: Mapping[str, Any]) -> dict[str, str]:
    """Return the runs that an event is about, as a dict from run id to name. A name that is not known is empty."""
    called = str(data.get("name", ""))
    if name.startswith("run:") or (name.startswith("journey:") and name != "journey:deployed"):
        return {subject: called}
    run = data.get("run_id")
    return {run: called} if isinstance(run, str) else {}


def journeys_of_run(id: str, kind: str, name: str, input: Any) -> dict[str, str]:
    """Return the runs whose read guards may hide this run. The result is a dict from run id to run name.

    - If this run is not a job, the result has only this run.
    - If this run is a job that delivers an event to a webhook, the result has the run that the event is about, if any.
    - If this run is any other job, the result is empty.
    """
    if kind != "job":
        return {id: name}
    event = input.get("event") if name == DELIVERY and isinstance(input, Mapping) else None
    return {} if event is None else runs_of_event(event["name"], event["subject"], event["data"])
