"""Call a server about journeys: `client.journeys`, like `app.journeys`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from math import ceil
from typing import Any

from ostinato.client.calling import CallGroup, Json, part, path_of

_path = partial(path_of, "/journeys")
_definition = partial(path_of, "/journey-definitions")


class Journeys(CallGroup):
    """The calls about journeys. Bodies and answers have the field names of the journey language. Some methods have
    these parameters:

    - `headers`: HTTP headers to send with the call; the journey can read them
    - `key`: the idempotency key of the call. The server acts only once on calls with the same key. By default, the
      client generates a key.
    """

    # Instances

    async def start(
        self,
        name: str,
        input: Mapping[str, Any] | None = None,
        *,
        version: str | None = None,
        wait: float | None = None,
        at_once: bool = False,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Json:
        """Start a journey. The server waits up to `wait` seconds until the journey ends or waits for something. If
        `at_once` is true, the server does not wait.

        - If the journey has ended, the answer is its outcome, with `status`.
        - If the journey waits for something, the answer is its status, with `currentState`.
        - If the journey is still active, the answer has `statusUrl`, the URL of its status.

        If `at_once` is true, the answer has `statusUrl` for every journey that has not ended.
        """
        sent_headers = _with_preferences(headers, wait, at_once)
        path = f"/journeys/{part(name)}/start"
        return await self._calling.one("POST", path, dict(input or {}), key=key, headers=sent_headers, version=version)

    async def status(self, id: str, *, headers: Mapping[str, str] | None = None) -> Json:
        return await self._calling.one("GET", _path(id), headers=headers)

    async def result(self, id: str, *, headers: Mapping[str, str] | None = None) -> Json:
        """Return the outcome of a journey. Raises `Conflict` while it is running."""
        return await self._calling.one("GET", _path(id, "result"), headers=headers)

    async def step(
        self,
        id: str,
        step: str,
        body: Any = None,
        *,
        wait: float | None = None,
        headers: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Json:
        """Send the input that a step waits for. The server waits up to `wait` seconds until the journey ends or waits
        again. The answer is the status of the journey at that time."""
        sent_headers = _with_preferences(headers, wait, False)
        return await self._calling.one("POST", _path(id, "steps", step), body, key=key, headers=sent_headers)

    async def cancel(self, id: str, reason: str = "", *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(id, "steps", "cancel"), {"reason": reason}, key=key)

    async def draw(self, id: str) -> str:
        """Return a picture of the states of a journey, as the text of an SVG document. The picture shows the path that
        the journey took and its current state."""
        return (await self._calling.ask("GET", _path(id, "diagram.svg"))).text

    async def call(
        self, name: str, body: Mapping[str, Any] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """Call an `Api` definition, and return its reply. A call that may have reached the server is not retried."""
        return await self._calling.call("POST", f"/apis/{part(name)}", dict(body or {}), once=False, headers=headers)

    # Definitions

    async def deploy(
        self,
        text: str,
        file: str = "journey.yaml",
        *,
        documents: Mapping[str, str] | None = None,
        key: str | None = None,
    ) -> Json:
        """Deploy a definition. `documents` maps each reference in the definition to the text that it refers to."""
        body = {"text": text, "file": file, "documents": dict(documents or {})}
        return await self._calling.one("POST", "/journey-definitions", body, key=key)

    async def validate(
        self, text: str, file: str = "journey.yaml", *, documents: Mapping[str, str] | None = None
    ) -> Json:
        """Check a definition with the server's task kinds and expression languages. Return all errors and warnings."""
        body = {"text": text, "file": file, "documents": dict(documents or {})}
        return await self._calling.one("POST", "/journey-definitions:validate", body)

    async def definitions(self, *, after: str = "", limit: int = 100) -> list[Json]:
        return await self._calling.pages("/journey-definitions", "after", after, limit)

    async def versions(self, name: str) -> list[Json]:
        return await self._calling.all(_definition(name))

    async def definition(self, name: str, version: str = "latest") -> Json:
        """Return a version of a definition, with its text."""
        return await self._calling.one("GET", _definition(name, version))

    async def openapi(self, name: str, version: str = "latest") -> Json:
        """Return the OpenAPI description of the journey's own API."""
        return await self._calling.one("GET", _definition(name, version, "openapi.json"))

    async def draw_definition(self, name: str, version: str = "latest") -> str:
        return (await self._calling.ask("GET", _definition(name, version, "diagram.svg"))).text

    # Bindings: the schedules that journeys have created

    async def bindings(
        self, *, name: str | None = None, subject: str | None = None, after: str = "", limit: int = 100
    ) -> list[Json]:
        """List bindings: the schedules that journeys have created. `name` limits the list to one journey, and `subject`
        to one subject. The contexts of bindings are left out, because they may contain tokens."""
        filters = {"journeyName": name, "subjectId": subject}
        return await self._calling.pages("/journey-bindings", "after", after, limit, **filters)

    async def binding(self, id: str) -> Json:
        return await self._calling.one("GET", f"/journey-bindings/{part(id)}")

    async def cancel_binding(self, id: str, *, key: str | None = None) -> Json:
        """Cancel a schedule that a journey has created. It starts no further runs. An active run finishes."""
        return await self._calling.one("POST", f"/journey-bindings/{part(id)}/cancel", key=key)

    async def list(
        self,
        *,
        name: str | None = None,
        phase: str | None = None,
        subject: str | None = None,
        tags: Sequence[str] = (),
        attributes: Mapping[str, str] | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[Json]:
        """List instances of journeys that match all filters, the newest first."""
        labels = [f"{name}={value}" for name, value in (attributes or {}).items()]
        filters = {"journeyName": name, "phase": phase, "subjectId": subject}
        several = {"tag": list(tags) or None, "attribute": labels or None}
        return await self._calling.pages("/journeys", "before", before, limit, **filters, **several)


def _with_preferences(headers: Mapping[str, str] | None, wait: float | None, at_once: bool) -> dict[str, str]:
    preferences = [*(["respond-async"] if at_once else []), *([] if wait is None else [f"wait={max(0, ceil(wait))}"])]
    return {**(headers or {}), **({"Prefer": ", ".join(preferences)} if preferences else {})}
