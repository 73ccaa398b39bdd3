"""What the package offers by name."""

from __future__ import annotations

import pytest

import ostinato


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
