"""Webhooks and real processes: a node that is killed between taking an event and delivering it loses nothing."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import orjson

from ostinato import Ostinato
from tests.support.forked_python import Popen
from tests.support.service import Received, Reply, Service

RUNS = 60
NODE = """
import asyncio, logging, sys
from ostinato import EgressPolicy, Ostinato
logging.getLogger("ostinato").setLevel(logging.CRITICAL)
app = Ostinato(sys.argv[1], lease=1.5, egress=EgressPolicy(allow=("127.0.0.0/8",)))

@app.job()
async def work(n: int) -> int:
    return n

async def main():
    async with app:
        await asyncio.Event().wait()

asyncio.run(main())
"""


def node(url: str) -> subprocess.Popen[bytes]:
    return Popen([sys.executable, "-c", NODE, url], cwd=Path(__file__).parents[2])


def test_nodes_that_are_killed_lose_no_delivery(store_url: str) -> None:
    """Each event arrives at least once, in order for its subject, and most of them exactly once."""
    held = threading.Event()
    arrived: list[tuple[str, str]] = []
    lock = threading.Lock()

    def answer(received: Received) -> Reply:
        event = orjson.loads(received.body)
        with lock:
            arrived.append((event["subject"], event["name"]))
        # The first few are never answered: whoever sent them dies before it knows.
        return Reply(wait_for=held) if len(arrived) <= 4 else Reply()

    async def main(service: Service) -> None:
        app = Ostinato(store_url)
        async with app.connected():
            hook = await create(app, service.url)
            runs = [handle.id for handle in await app.start_many("work", [{"n": n} for n in range(RUNS)])]
            processes = [node(store_url)]
            try:
                async with asyncio.timeout(60):
                    while len(arrived) < 4:
                        await asyncio.sleep(0.05)
                processes[0].kill()
                processes[0].wait(30)
                held.set()
                processes += [node(store_url), node(store_url)]
                async with asyncio.timeout(80):
                    while True:
                        done = {one for one in arrived if one[1] == "run:succeeded"}
                        left = await app.webhooks.deliveries(hook, status="active", limit=1000)
                        if len(done) == RUNS and not left:
                            break
                        await asyncio.sleep(0.1)
                assert {subject for subject, _ in done} == set(runs)
                for run in runs:
                    order = [name for subject, name in arrived if subject == run]
                    seen = list(dict.fromkeys(order))
                    assert seen == ["run:created", "run:started", "run:succeeded"], order
                assert len(arrived) <= 3 * RUNS + 8
            finally:
                for process in processes:
                    process.kill()
                    process.wait(30)

    with Service(answer) as service:
        try:
            asyncio.run(main(service))
        finally:
            held.set()


async def create(app: Ostinato, url: str) -> str:
    """From a process with a policy of its own: the nodes' is the one that counts for a name."""
    return (await app.webhooks.create(url.replace("127.0.0.1", "localhost"), ["run:*"])).id
