"""Define `Client`, which calls the HTTP API of a server. Attributes such as `client.schedules` group its calls."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from ostinato.client.agents import Agents
from ostinato.client.calling import Calling, Json, Moment, ServerFailed, Unreachable, error_of, part, without_none
from ostinato.client.functions import Functions
from ostinato.client.journeys import Journeys
from ostinato.client.schedules import Schedules
from ostinato.client.webhooks import Webhooks
from ostinato.client.workflows import Workflows
from ostinato.errors import OstinatoError

if TYPE_CHECKING:
    import httpx

DEFAULT_SERVER = "http://127.0.0.1:8471"
_SILENCE = 60.0  # seconds of silence before a stream is opened again
# Connect to this machine without a proxy.
_DIRECT: dict[str, None] = {f"all://{name}": None for name in ("localhost", "127.0.0.1", "[::1]")}


class Client:
    """The client for a server: `async with Client("http://127.0.0.1:8471", token=…) as client:`. If the server does not
    answer, is unavailable or is too busy, the client retries a call for up to `patience` seconds. The client passes
    `verify` to httpx. To trust your own certificate authority, pass an `ssl.SSLContext`."""

    def __init__(
        self,
        server: str = DEFAULT_SERVER,
        *,
        token: str | None = None,
        namespace: str | None = None,
        patience: float = 30.0,
        timeout: float = 30.0,
        verify: Any = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        if not server.startswith(("http://", "https://")):
            raise OstinatoError(f"the server {server!r} is not a URL; write {DEFAULT_SERVER}")
        import httpx

        self.server = server.rstrip("/")
        http = httpx.AsyncClient(
            base_url=f"{self.server}/api/v1",
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            params={} if namespace is None else {"namespace": namespace},
            timeout=timeout,
            verify=verify,
            transport=transport,
            mounts=_DIRECT,
        )
        self._use(Calling(self.server, http, patience))

    def _use(self, calling: Calling) -> None:
        self._calling = calling
        self.schedules = Schedules(calling)
        self.webhooks = Webhooks(calling)
        self.journeys = Journeys(calling)
        self.workflows = Workflows(calling)
        self.functions = Functions(calling)
        self.agents = Agents(calling)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._calling.http.aclose()

    async def call(self, /, method: str, path: str, body: Mapping[str, Any] | None = None, **how: Any) -> Any:
        """Make any call of the API, and return the JSON of the answer, or None for status 204. `key` is the idempotency
        key; by default, the client generates one. `if_match` is a conflict token: the server refuses the call if the
        object has changed since the token was read. Other keywords are query parameters."""
        return await self._calling.call(method, path, body, **how)

    # Runs and jobs

    async def runs(
        self,
        *,
        name: str | None = None,
        status: str | None = None,
        parent: str | None = None,
        attempts: bool = False,
        before: str | None = None,
        limit: int = 100,
    ) -> list[Json]:
        """List runs, the newest first. `name`, `status` and `parent` (the id of the parent run) limit the list. If
        `attempts` is true, the list also has the earlier attempts of runs that were retried."""
        filters = {"name": name, "status": status, "parent": parent, "attempts": attempts or None}
        return await self._calling.pages("/runs", "before", before, limit, **filters)

    async def run(self, id: str) -> Json:
        return await self._calling.one("GET", f"/runs/{part(id)}")

    async def attempts(self, id: str) -> list[Json]:
        return await self._calling.all(f"/runs/{part(id)}/attempts")

    async def log(self, id: str) -> list[Json]:
        return await self._calling.all(f"/runs/{part(id)}/log")

    async def cancel(self, id: str, reason: str = "") -> str:
        """Request that a run stops, and return the status of the run after the request."""
        return str((await self._calling.one("POST", f"/runs/{part(id)}/cancel", {"reason": reason}))["status"])

    async def terminate(self, id: str, reason: str = "") -> str:
        return str((await self._calling.one("POST", f"/runs/{part(id)}/terminate", {"reason": reason}))["status"])

    async def retry(self, id: str, *, key: str | None = None) -> Json:
        """Start a new run with the input of a run that has ended. The answer has the id of the new run."""
        return await self._calling.one("POST", f"/runs/{part(id)}/retry", key=key)

    async def jobs(self) -> list[Json]:
        return await self._calling.all("/jobs")

    async def start(
        self,
        /,
        job: str,
        input: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        at: Moment | None = None,
        key: str | None = None,
        **options: Any,
    ) -> Json:
        """Start a job, now or at the time `at`. `options` are the options of `Ostinato.start`. The answer has the `id`
        of the run, and `new`. If a run with this `id` was started before, nothing is started, and `new` is false."""
        body = without_none(input=dict(input or {}), id=id, at=at, **options)
        return await self._calling.one("POST", f"/jobs/{part(job)}/start", body, key=key)

    async def start_many(
        self, /, job: str, inputs: Sequence[Mapping[str, Any]], *, key: str | None = None, **options: Any
    ) -> list[Json]:
        body = without_none(inputs=[dict(one) for one in inputs], **options)
        return list((await self._calling.one("POST", f"/jobs/{part(job)}/start-many", body, key=key))["items"])

    # Events

    async def events(
        self, *, after: int = 0, subject: str | None = None, limit: int = 100, newest: bool = False
    ) -> list[Json]:
        """List at most `limit` events with a sequence number above `after`, in the order of their commits.

        - `subject`: list only the events about this subject
        - `newest`: if true, list the last events instead, at most 1,000

        Raises `OstinatoError` if `newest` is combined with `after` or `subject`.
        """
        if newest:
            forbidden = {"after": after or None, "subject": subject}  # the server says why
            return await self._calling.items("/events", newest=True, limit=min(limit, 1000), **forbidden)
        return await self._calling.pages("/events", "after", after, limit, subject=subject)

    async def follow(
        self, *, pattern: str = "*", subject: str | None = None, after: int | None = None
    ) -> AsyncIterator[Json]:
        """Yield each event as it happens, without end. If the connection breaks, connect again, and continue without
        missing an event. Raises `Unreachable` if the server has not answered for `patience` seconds.

        - `pattern`: yield only events whose name matches this pattern
        - `subject`: yield only events about this subject
        - `after`: begin with the first event after this sequence number; by default, begin with the next event
        """
        import httpx

        loop = asyncio.get_running_loop()
        if after is None:  # read now, so that a stream that breaks before its first event misses nothing
            newest = await self.events(newest=True, limit=1)
            after = int(newest[-1]["seq"]) if newest else 0
        broken_since: float | None = None
        while True:
            try:
                async for event in self._stream(pattern, subject, after):
                    broken_since = None
                    if event is not None:
                        after = event["seq"]
                        yield event
            except (httpx.TransportError, Unreachable) as problem:
                if broken_since is None:
                    broken_since = loop.time()
                elif loop.time() - broken_since > self._calling.patience:
                    raise Unreachable(f"{self.server} does not answer: {problem or type(problem)}") from problem
            await asyncio.sleep(0.5)

    async def _stream(self, pattern: str, subject: str | None, after: int) -> AsyncIterator[Json | None]:
        """Open one connection, and yield the events that arrive. Yield None when the server has accepted the
        connection, and for each line that is not an event. The caller can see from each value that the server is
        alive."""
        import httpx

        asked = without_none(pattern=pattern, subject=subject, after=after)
        timeout = httpx.Timeout(30.0, read=_SILENCE)
        async with self._calling.http.stream("GET", "/events/stream", params=asked, timeout=timeout) as answer:
            if answer.status_code >= 400:
                await answer.aread()
                raise error_of(answer)
            yield None
            async for line in answer.aiter_lines():
                yield json.loads(line[5:]) if line.startswith("data:") else None

    # Namespaces, tokens, nodes

    async def namespaces(self) -> list[Json]:
        return await self._calling.all("/namespaces")

    async def create_namespace(self, name: str, notes: str = "") -> Json:
        return await self._calling.one("POST", "/namespaces", {"name": name, "notes": notes})

    async def delete_namespace(self, name: str) -> None:
        await self._calling.call("DELETE", f"/namespaces/{part(name)}")

    async def tokens(self) -> list[Json]:
        return await self._calling.all("/tokens")

    async def create_token(
        self, role: str = "reader", *, namespace: str | None = None, label: str = "", expires_in: str | None = None
    ) -> Json:
        """Create a token, and return it with its secret text. No later call returns the secret text. If the connection
        fails after the request was sent, the client raises `Unreachable` and does not retry the call: the server may
        have created the token, and a second call would create another one."""
        body = without_none(role=role, namespace=namespace, label=label, expires_in=expires_in)
        return await self._calling.one("POST", "/tokens", body, once=False)

    async def revoke_token(self, id: str) -> None:
        await self._calling.call("DELETE", f"/tokens/{part(id)}")

    async def nodes(self) -> list[Json]:
        return await self._calling.all("/nodes")

    async def diagnose(self, *, repair: bool = False) -> Json:
        """Check the store and its nodes. The answer says what is wrong and how to repair it. If `repair` is true, the
        server also makes those repairs that are safe."""
        return await self._calling.one("POST", "/diagnosis", {"repair": repair})

    async def ready(self) -> Json:
        """Return a dict that says whether the server is ready. If the server is not ready, the dict also says why.
        Raises `Unreachable` if nothing answers, and `ServerFailed` if the answer is not a JSON object, because then it
        does not come from a server of Ostinato."""
        import httpx

        try:
            response = await self._calling.http.get("/health/ready")
            answer = response.json()
        except httpx.TransportError as problem:
            raise Unreachable(f"{self.server} does not answer: {problem or type(problem)}") from problem
        except ValueError as problem:
            raise ServerFailed(f"{self.server} is no server of Ostinato: its answer is not JSON") from problem
        if not isinstance(answer, dict):
            raise ServerFailed(f"{self.server} is no server of Ostinato: its answer is not a JSON object")
        return answer
