"""Find the runs that an event or a delivery is about.

A read guard is a journey's rule about who may read the journey. If a read guard hides a run, it also hides the events
about the run, and the deliveries of these events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ostinato.webhooks import JOB as DELIVERY


def runs_of_event(name: str, subject: str, data: Mapping[str, Any]) -> dict[str, str]:
    """Return the runs that an event is about, as a dict from run id to the run's name. An unknown name is ""."""
    called = str(data.get("name", ""))
    if name.startswith("run:") or (name.startswith("journey:") and name != "journey:deployed"):
        return {subject: called}
    run = data.get("run_id")
    return {run: called} if isinstance(run, str) else {}


def journeys_of_run(id: str, kind: str, name: str, input: Any) -> dict[str, str]:
    """Return the runs whose read guards may hide the run `id`, as a dict from run id to name.

    - If the run is not a job, the dict has the run itself.
    - If the run is a job that delivers an event, the dict has the run that the event is about.
    - For any other job, the dict is empty: no read guard hides the job.
    """
    if kind != "job":
        return {id: name}
    event = input.get("event") if name == DELIVERY and isinstance(input, Mapping) else None
    return {} if event is None else runs_of_event(event["name"], event["subject"], event["data"])


def merge_names(about: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Merge several mappings from run id to journey name into one dict. The name "" means that the name is unknown. If
    one mapping has "" for a run, and another mapping has the name of the run, the dict has the name."""
    names: dict[str, str] = {}
    for run_names in about:
        for id, name in run_names.items():
            names[id] = names.get(id) or name
    return names
