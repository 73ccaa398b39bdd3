"""Call a server about workflows: `client.workflows`, like `app.workflows`. The client cannot deploy code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ostinato.client.calling import CallGroup, Json, path_of, without_none

_path = partial(path_of, "/workflows")


class Workflows(CallGroup):
    """The calls about workflows. The parameter `key` of a method is the idempotency key of the call: the server acts
    only once on calls with the same key. By default, the client generates a key."""

    async def list(self, *, after: str = "", limit: int = 100) -> list[Json]:
        """List the workflows of the namespace by name."""
        return await self._calling.pages("/workflows", "after", after, limit)

    async def get(self, name: str, *, recent: int = 5) -> Json:
        """Return the overview of a workflow, with counts of its inputs by source and type, and up to `recent` lines
        about its latest activity."""
        return await self._calling.one("GET", _path(name), recent=recent)

    async def draw(self, name: str) -> str:
        """Return a workflow as the text of an SVG document."""
        return (await self._calling.ask("GET", _path(name, "diagram.svg"))).text

    async def runs(
        self, name: str, *, handler: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the attempts of all handlers of a workflow, or only of `handler`, the newest first."""
        return await self._calling.pages(_path(name, "runs"), "before", before, limit, handler=handler)

    async def run(self, name: str, run_id: str) -> Json:
        """Return a run of a workflow. The answer has all attempts in the run's chain of retries, the events that the
        run reserved, and its effect on another system."""
        return await self._calling.one("GET", _path(name, "runs", run_id))

    async def events(
        self, name: str, *, topic: str | None = None, status: str | None = None, after: str = "", limit: int = 100
    ) -> Sequence[Json]:
        """List the events of a workflow's topics, the oldest first."""
        return await self._calling.pages(_path(name, "events"), "after", after, limit, topic=topic, status=status)

    async def inputs(
        self, name: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the inputs of a workflow, the newest first."""
        return await self._calling.pages(_path(name, "inputs"), "before", before, limit, status=status)

    async def outputs(
        self, name: str, *, status: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the outputs of a workflow, the newest first. An output is an effect on another system. Failed effects
        are left out."""
        return await self._calling.pages(_path(name, "outputs"), "before", before, limit, status=status)

    async def pause(self, name: str, *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(name, "pause"), key=key)

    async def resume(self, name: str, *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(name, "resume"), key=key)

    async def stop(self, name: str, *, key: str | None = None) -> Json:
        """Stop a workflow permanently. Its records stay in the store."""
        return await self._calling.one("POST", _path(name, "stop"), key=key)

    async def run_now(self, name: str, *, key: str | None = None) -> Json:
        """Run all producers of a workflow now. Raises `Conflict` if the workflow is paused, stopped or blocked, or has
        an unfinished run."""
        return await self._calling.one("POST", _path(name, "run-now"), key=key)

    async def resolve(self, name: str, choice: str, *, run_id: str | None = None, key: str | None = None) -> Json:
        """Resolve the problem that blocks a workflow.

        - `choice`: `reauthenticate`, `approve`, `resume`, `try_again`, `did_not_happen` or `skip`. The field `choices`
          of the answer of `get` lists the choices that apply now.
        - `run_id`: if given, only a problem of this run is resolved

        Raises `Conflict` if there is no such problem, or if the choice does not apply now.
        """
        body = without_none(choice=choice, run_id=run_id)
        return await self._calling.one("POST", _path(name, "resolve"), body, key=key)

    async def skip_event(self, name: str, topic: str, message_id: str, *, key: str | None = None) -> Json:
        """Skip an event. Raises `Conflict` if the event is consumed, or if it is reserved by a run whose effect may
        have begun."""
        body = {"topic": topic, "message_id": message_id}
        return await self._calling.one("POST", _path(name, "events", "skip"), body, key=key)

    async def skip_input(self, name: str, input_id: str, *, key: str | None = None) -> Json:
        """Skip all events of an input. Events that are consumed, or reserved by a run whose effect may have begun, are
        not skipped. An event that the workflow publishes later is also skipped, if all inputs that cause the event are
        skipped."""
        return await self._calling.one("POST", _path(name, "inputs", input_id, "skip"), key=key)
