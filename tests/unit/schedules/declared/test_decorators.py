"""Schedules declared in code."""

from __future__ import annotations

from typing import Any

import pytest

from ostinato import Ostinato, OstinatoError, cron, every


@pytest.fixture
def app() -> Any:
    return Ostinato("sqlite:///:memory:")


def test_a_cron_text_may_stand_with_its_zone(app: Ostinato) -> None:
    @app.schedule("0 9 * * *", tz="Europe/Berlin")
    async def report() -> None: ...

    (declaration,) = app._declarations.declared
    assert declaration.options["spec"] == cron("0 9 * * *", tz="Europe/Berlin")
    with pytest.raises(OstinatoError, match=r"tz 'Asia/Tokyo' belongs into the spec: cron\(…, tz='Asia/Tokyo'\)"):
        app.schedule(every("1h"), tz="Asia/Tokyo")(report)
    with pytest.raises(OstinatoError, match=r"a schedule has no 'timezone'; did you mean 'tz'?"):
        app.schedule("0 9 * * *", timezone="Asia/Tokyo")(report)  # type: ignore[call-arg]
