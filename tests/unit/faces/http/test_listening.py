"""The first server that binds an address has it, also if neither server is ready to answer yet."""

from __future__ import annotations

import pytest

from ostinato.errors import OstinatoError
from ostinato.faces.http.server import Listening, listen


def test_two_servers_that_start_at_once_do_not_share_an_address() -> None:
    with listen(Listening(port=0)) as first:
        port = first.getsockname()[1]
        with pytest.raises(OstinatoError, match=f"cannot listen on 127.0.0.1, port {port}: it is in use"):
            listen(Listening(port=port))
        with listen(Listening(port=port), any_port=True) as second:
            assert second.getsockname()[1] != port
    with listen(Listening(port=port)) as again:
        assert again.getsockname()[1] == port
