"""What the package offers by name."""

from __future__ import annotations

import pytest

import ostinato
from ostinato.errors import nearest


def test_what_type_hints_need_is_in_the_package() -> None:
    for name in ("Client", "Context", "Event", "RunHandle", "SyncClient", "SyncContext"):
        assert getattr(ostinato, name).__name__ == name


def test_everything_that_is_offered_is_there() -> None:
    import ostinato

    assert set(ostinato.__all__) <= set(dir(ostinato))
    for name in ostinato.__all__:
        assert getattr(ostinato, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ostinato.nothing  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Spek'; did you mean 'Spec'"):
        ostinato.Spek  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Schedule'; there are Client, "):
        ostinato.Schedule  # noqa: B018


@pytest.mark.parametrize(
    ("word", "choices", "near"),
    [
        ("job", ["name", "spec", "job"], "job"),  # not its synonym `name`
        ("delay", ["ready", "start", "runs"], "start"),
        ("delay", ["ready", "runs"], None),
        ("faild", ["succeeded", "failed"], "failed"),
        ("max_retries", ["retry", "retries"], "retry"),
    ],
)
def test_a_suggestion_is_what_was_meant_or_none(word: str, choices: list[str], near: str | None) -> None:
    assert nearest(word, choices) == near
