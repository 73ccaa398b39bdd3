"""Create the ids of workflows, runs, events and mutations. In a process each id is greater than the one before."""

from __future__ import annotations

from ostinato.ids import Ids

new_id = Ids().new
