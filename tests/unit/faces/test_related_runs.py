"""Which journeys a page of runs and events is about."""

from __future__ import annotations

from ostinato.faces.related_runs import merge_names


def test_a_run_has_the_name_that_any_record_has_for_it() -> None:
    about = [{"gone": ""}, {"gone": "private", "other": "open"}, {"gone": "", "nameless": ""}]
    assert merge_names(about) == {"gone": "private", "other": "open", "nameless": ""}
