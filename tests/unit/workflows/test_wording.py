"""Numbers and lengths in words."""

from __future__ import annotations

import pytest

from ostinato.when.instants import SECOND
from ostinato.workflows.views.wording import counted, length, listed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (0, "0 s"),
        (0.2, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (61, "2 min"),
        (180, "3 min"),
        (3600, "1 h"),
        (5400, "2 h"),
        (86_400, "1 d"),
        (90_000, "2 d"),
    ],
)
def test_a_length_is_rounded_up_to_its_largest_unit(seconds: float, words: str) -> None:
    assert length(int(seconds * SECOND)) == words


def test_numbers_have_their_nouns() -> None:
    assert [counted(1, "email"), counted(3, "email"), counted(2, "entry"), counted(2, "key"), counted(2, "inbox")] == [
        "1 email",
        "3 emails",
        "2 entries",
        "2 keys",
        "2 inboxes",
    ]
    assert listed({"email": 3, "file": 1}) == "3 emails and 1 file"
    assert listed({"email": 3, "file": 1, "row": 2}) == "3 emails, 1 file and 2 rows"
