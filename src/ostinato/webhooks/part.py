"""Add webhooks to one app: the API `app.webhooks`, the job that delivers events, and a dispatcher on the app's node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from ostinato.engine.kinds import Body
from ostinato.engine.node import Engine
from ostinato.engine.ways import Host, Loop, Part, Runtime
from ostinato.errors import OstinatoError
from ostinato.model import read_length
from ostinato.webhooks.api import WebhookApiContext, Webhooks
from ostinato.webhooks.delivery import webhook_handler
from ostinato.webhooks.dispatcher import Dispatcher
from ostinato.when.durations import Length
from ostinato.when.instants import SECOND

_PATIENCE = "1d"


def read_patience(length: Any, place: str) -> Length:
    """Return `length`. Raises OstinatoError if it is not a length of at least a second. The error message begins with
    `place`, the name of the setting."""
    if read_length(length, place) < SECOND:
        raise OstinatoError(f"{place} {length!r} is too short; a second is the least")
    return cast(Length, length)


class WebhooksPart(Part):
    def __init__(self, host: Host) -> None:
        super().__init__(host)
        patience = read_patience(host.settings.get("webhook_patience", _PATIENCE), "webhook_patience")
        self._dispatcher: Dispatcher | None = None
        self.jobs = (webhook_handler(host.egress, host.store, read_length(patience, "webhook_patience")),)
        self.api = Webhooks(
            WebhookApiContext(
                store=host.store,
                now=lambda: host.engine().clock.now(),
                new_id=host.new_id,
                nudge=lambda: host.engine().nudge(),
                changed=self._changed,
                policy=host.egress.policy,
                event_names=host.event_names,
                namespace=host.namespace,
                actor=host.actor,
            )
        )

    def begin(self, engine: Engine) -> Mapping[str, Body]:
        host = self.host
        self._dispatcher = Dispatcher(host.store, engine.clock, engine.listeners, host.new_id, engine.nudge)
        return {}

    def loops(self) -> Mapping[str, Loop]:
        return {} if self._dispatcher is None else {"webhooks": self._dispatcher.run}

    def _changed(self) -> None:
        if self._dispatcher is not None:
            self._dispatcher.changed()


RUNTIME = Runtime(part=WebhooksPart)
