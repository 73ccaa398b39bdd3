"""Create the ids of workflows and of their runs, events and mutations. Within a process each id is greater than the one
before, so ids sort by time."""

from __future__ import annotations

from ostinato.ids import Ids

new_id = Ids().new
