"""`client.journeys` makes the calls about journeys to a server. It corresponds to `app.journeys`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ostinato.client.calling import Calling, Json, part


class Journeys:
    """The calls about journeys. Bodies and answers have the field names of the journey language.

    A journey can read the `headers` of a call. Methods that change something take an idempotency key, `key`. Without a
    `key`, the client generates one.
    """

    def __init__(self, calling: Calling) -> None:
        self._calling = calling

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
        """Start a journey, and wait up to `wait` seconds until it ends or waits for something.

        If it has ended, the answer is its outcome, with the member `status`. If it waits for something, the answer is
        its status, with the member `currentState`. If it is still active, or with `at_once`, the answer has
        `statusUrl`, the URL of the journey's status.
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
        """Send the input that a step waits for. The answer is the status of the journey after that."""
        sent_headers = _with_preferences(headers, wait, False)
        return await self._calling.one("POST", _path(id, "steps", step), body, key=key, headers=sent_headers)

    async def cancel(self, id: str, reason: str = "", *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(id, "steps", "cancel"), {"reason": reason}, key=key)

    async def draw(self, id: str) -> str:
        """Return the states of a journey as an SVG document, with the path that it took and its current state."""
        return (await self._calling.ask("GET", _path(id, "diagram.svg"))).text

    async def call(
        self, name: str, body: Mapping[str, Any] | None = None, *, headers: Mapping[str, str] | None = None
    ) -> Any:
        """Call a definition of the kind `Api` by its name, and return its reply. The call is not retried if it may have
        reached the server."""
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
        """Deploy a definition. `documents` is a dict with the text for each reference in the definition."""
        body = {"text": text, "file": file, "documents": dict(documents or {})}
        return await self._calling.one("POST", "/journey-definitions", body, key=key)

    async def validate(
        self, text: str, file: str = "journey.yaml", *, documents: Mapping[str, str] | None = None
    ) -> Json:
        """Check a definition. It may use the task kinds and expression languages of the server. The answer has all
        errors and warnings."""
        body = {"text": text, "file": file, "documents": dict(documents or {})}
        return await self._calling.one("POST", "/journey-definitions:validate", body)

    async def definitions(self, *, after: str = "", limit: int = 100) -> list[Json]:
        return await self._calling.pages("/journey-definitions", "after", after, limit)

    async def versions(self, name: str) -> list[Json]:
        return await self._calling.pages(_definition(name), "after", None, 1_000_000)

    async def definition(self, name: str, version: str = "latest") -> Json:
        """Return a version of a definition, with its text."""
        return await self._calling.one("GET", _definition(name, version))

    async def openapi(self, name: str, version: str = "latest") -> Json:
        """Read the OpenAPI description of the journey's own API."""
        return await self._calling.one("GET", _definition(name, version, "openapi.json"))

    async def draw_definition(self, name: str, version: str = "latest") -> str:
        return (await self._calling.ask("GET", _definition(name, version, "diagram.svg"))).text

    # Bindings: the schedules that journeys have created

    async def bindings(
        self, *, name: str | None = None, subject: str | None = None, after: str = "", limit: int = 100
    ) -> list[Json]:
        """List bindings: the schedules that journeys have created. `name` selects those of one journey, and `subject`
        those of one subject. The contexts of bindings are left out, because they may contain tokens."""
        filters = {"journeyName": name, "subjectId": subject}
        return await self._calling.pages("/journey-bindings", "after", after, limit, **filters)

    async def binding(self, id: str) -> Json:
        return await self._calling.one("GET", f"/journey-bindings/{part(id)}")

    async def cancel_binding(self, id: str, *, key: str | None = None) -> Json:
        """Cancel a binding: a schedule that a journey has created. It starts no further runs. An active run
        finishes."""
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
    preferences = [*(["respond-async"] if at_once else []), *([] if wait is None else [f"wait={int(wait)}"])]
    return {**(headers or {}), **({"Prefer": ", ".join(preferences)} if preferences else {})}


def _path(*parts: str) -> str:
    return "/".join(["/journeys", *map(part, parts)])


def _definition(*parts: str) -> str:
    return "/".join(["/journey-definitions", *map(part, parts)])
