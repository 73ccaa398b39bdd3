"""Rows that an earlier version wrote are still read."""

from __future__ import annotations

from ostinato.schedules.rows import read_spec_text
from ostinato.when import cron


def test_a_stored_spec_may_have_the_former_names_of_its_keys() -> None:
    former = read_spec_text('{"cron": ["0 9 * * *"], "zone": "Europe/Berlin"}')
    assert former == read_spec_text('{"cron": ["0 9 * * *"], "tz": "Europe/Berlin"}')
    assert former == cron("0 9 * * *", tz="Europe/Berlin")
