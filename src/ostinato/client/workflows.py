"""`client.workflows` makes the calls about workflows to a server. It corresponds to `app.workflows`, but cannot deploy
code."""

from __future__ import annotations

from collections.abc import Sequence

from ostinato.client.calling import Calling, Json, part, without_none


class Workflows:
    """The calls about workflows. Methods that change something take an idempotency key, `key`. Without a `key`, the
    client generates one."""

    def __init__(self, calling: Calling) -> None:
        self._calling = calling

    async def list(self, *, after: str = "", limit: int = 100) -> list[Json]:
        """List the workflows of the namespace by name."""
        return await self._calling.pages("/workflows", "after", after, limit)

    async def get(self, name: str, *, recent: int = 5) -> Json:
        """Return a workflow with its inputs, and the `recent` newest lines about its activity."""
        return await self._calling.one("GET", _path(name), recent=recent)

    async def draw(self, name: str) -> str:
        """Return a workflow as the text of an SVG document."""
        return (await self._calling.ask("GET", _path(name, "diagram.svg"))).text

    async def runs(
        self, name: str, *, handler: str | None = None, before: str | None = None, limit: int = 100
    ) -> Sequence[Json]:
        """List the attempts of the workflow's handlers, or of the given handler, the newest first."""
        return await self._calling.pages(_path(name, "runs"), "before", before, limit, handler=handler)

    async def run(self, name: str, run_id: str) -> Json:
        """Return a run of a workflow: its attempts, the events that it reserved for itself, and its effect on other
        systems."""
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
        """List the effects of a workflow on other systems, the newest first."""
        return await self._calling.pages(_path(name, "outputs"), "before", before, limit, status=status)

    async def pause(self, name: str, *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(name, "pause"), key=key)

    async def resume(self, name: str, *, key: str | None = None) -> Json:
        return await self._calling.one("POST", _path(name, "resume"), key=key)

    async def stop(self, name: str, *, key: str | None = None) -> Json:
        """Stop a workflow permanently. Its records stay in the store."""
        return await self._calling.one("POST", _path(name, "stop"), key=key)

    async def run_now(self, name: str, *, key: str | None = None) -> Json:
        """Run all producers of a workflow now. Raises `Conflict` while a run is active or something blocks the
        workflow."""
        return await self._calling.one("POST", _path(name, "run-now"), key=key)

    async def resolve(self, name: str, choice: str, *, run_id: str | None = None, key: str | None = None) -> Json:
        """Settle the problem that blocks a workflow. `choice` is one of the `choices` that the problem lists.

        The possible choices are `reauthenticate`, `approve`, `resume`, `try_again`, `did_not_happen` and `skip`.
        """
        body = without_none(choice=choice, run_id=run_id)
        return await self._calling.one("POST", _path(name, "resolve"), body, key=key)

    async def skip_event(self, name: str, topic: str, message_id: str, *, key: str | None = None) -> Json:
        """Skip an event that is not consumed yet."""
        body = {"topic": topic, "message_id": message_id}
        return await self._calling.one("POST", _path(name, "events", "skip"), body, key=key)

    async def skip_input(self, name: str, input_id: str, *, key: str | None = None) -> Json:
        """Skip an input: all its events, including those that come later."""
        return await self._calling.one("POST", _path(name, "inputs", input_id, "skip"), key=key)


def _path(*parts: str) -> str:
    return "/".join(["/workflows", *map(part, parts)])
