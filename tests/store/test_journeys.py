"""What the store keeps of journeys, on both stores."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from ostinato.journeys.bindings import Binding, binding_row
from ostinato.journeys.definitions import DefinitionRow, definition_info
from ostinato.journeys.store import statement
from ostinato.store.contract import Operation, Rows, Statement, Store
from ostinato.store.urls import open_url


def carried_out(store: Store, *statements: Statement) -> Any:
    """These in one transaction; the rows of the last."""

    def operation() -> Operation[Rows]:
        rows: Rows = []
        for query in statements:
            rows = yield query
        return rows

    return store.run(lambda _: operation())


def instance(id: str, definition: str = "pay", phase: str = "RUNNING") -> tuple[Any, ...]:
    return (id, "default", definition, "1.0.0", phase, "a", "{}", "{}", None, None, None, None, 1, 1, None)


def binding(id: str, subject: str | None) -> Binding:
    return Binding(id, "default", "pay", "1.0.0", "run", subject, 5, "P1D", 3, 0, 1, "active", "j1", 1, 1, None, "{}")


def test_definitions_are_kept_once_for_each_version(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        row = DefinitionRow("default", "pay", "1.0.0", "Journey", "pay.journey.yaml", "d1", 1, None, "text", None)
        newer = row._replace(version="1.1.0", created=2)
        assert len(await carried_out(store, statement("insert_definitions", [row, newer]))) == 2
        other = row._replace(source="other", digest="d2", created=3)
        assert await carried_out(store, statement("insert_definitions", [other])) == []
        rows = await carried_out(store, statement("definition", namespace="default", name="pay", version="1.0.0"))
        assert tuple(rows[0]) == row
        versions = await carried_out(store, statement("definition_versions", namespace="default", name="pay"))
        assert [definition_info(one).version for one in versions] == ["1.1.0", "1.0.0"]
        page = statement("list_definitions", namespace="default", name="pay", version="1.0.0", limit=9)
        assert [definition_info(one).version for one in await carried_out(store, page)] == ["1.1.0"]
        await store.close()

    asyncio.run(main())


def test_instances_are_listed_by_what_they_are_and_by_labels(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        await carried_out(
            store,
            statement("insert_journeys", [instance("j1"), instance("j2"), instance("j3", "other")]),
            statement(
                "label_journeys", [("default", "tag:vip", "j1"), ("default", "tag:vip", "j3"), ("default", "n=1", "j1")]
            ),
            statement("label_journeys", [("default", "tag:vip", "j1")]),
            statement("update_journeys", [("j2", "SUCCEEDED", "done", '{"x":1}', "{}", '{"n":"2"}', 9, 9)]),
        )

        async def listed(name: str, before: str = "~", **options: str) -> list[str]:
            asked = {"namespace": "default", "start": before, "skip": before, "limit": 10, **options}
            return [one[0] for one in await carried_out(store, statement(name, **asked))]

        assert await listed("list_journeys") == ["j3", "j2", "j1"]
        assert await listed("list_journeys", before="j3") == ["j2", "j1"]
        assert await listed("list_journeys", namespace="another") == []
        assert await listed("defined_journeys", definition="pay") == ["j2", "j1"]
        assert await listed("journeys_in_phase", phase="RUNNING") == ["j3", "j1"]
        assert await listed("labelled_journeys", label="tag:vip") == ["j3", "j1"]
        assert await listed("labelled_journeys", label="n=1") == ["j1"]
        for name in ("journeys_by_ids",):
            rows = await carried_out(store, statement(name, [("j2",), ("none",)]))
            assert [(one[0], one[4], one[6], one[14]) for one in rows] == [("j2", "SUCCEEDED", '{"x":1}', 9)]
        await store.close()

    asyncio.run(main())


def test_the_first_answer_to_a_step_stays(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        asked = {"run_id": "j1", "step": "approve", "key": "k"}
        for answer in ("first", "second"):
            await carried_out(store, statement("keep_step_answer", **asked, digest="d", answer=answer, at=1))
        assert [tuple(one) for one in await carried_out(store, statement("step_answer", **asked))] == [("d", "first")]
        await store.close()

    asyncio.run(main())


def test_a_cached_value_runs_out(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        await carried_out(
            store, statement("cache", [("default", "a", "1", 10), ("default", "b", "2", None), ("other", "a", "3", 99)])
        )
        await carried_out(store, statement("cache", [("default", "a", "4", 20)]))
        keys = [("a",), ("b",), ("c",)]

        async def cached(now: int) -> dict[str, str]:
            return {
                row[0]: row[1]
                for row in await carried_out(store, statement("cached", keys, namespace="default", now=now))
            }

        assert await cached(19) == {"a": "4", "b": "2"}
        assert await cached(20) == {"b": "2"}
        assert len(await carried_out(store, statement("forget_cached", now=20, limit=10))) == 1
        await store.close()

    asyncio.run(main())


def test_bindings_are_found_by_identity_and_listed_without_their_contexts(store_url: str) -> None:
    async def main() -> None:
        store = open_url(store_url)
        await store.open()
        bindings = [binding("s1", "u1"), binding("s2", "u1"), binding("s3", None)]
        await carried_out(store, statement("insert_bindings", list(map(binding_row, bindings))))
        identity = {"namespace": "default", "definition": "pay", "version": "1.0.0", "start": "run"}

        async def same(subject: str) -> list[str]:
            return [one[0] for one in await carried_out(store, statement("same_bindings", **identity, subject=subject))]

        assert await same("u1") == ["s2", "s1"]
        changed = replace(
            bindings[1], runs_executed=3, last_context='{"t":1}', generation=2, state="exhausted", updated=9
        )
        await carried_out(store, statement("change_bindings", [binding_row(changed)]))
        assert (await same("u1"), await same("")) == (["s1"], ["s3"])
        held = await carried_out(store, statement("lock_bindings", [("s2",)]))
        assert Binding(*held[0]) == changed
        page = {"namespace": "default", "definition": "", "subject": "u1", "after": "", "limit": 9}
        listed = await carried_out(store, statement("list_bindings", **page))
        assert [one[0] for one in listed] == ["s1", "s2"]
        assert all('{"t":1}' not in list(one) for one in listed)
        await store.close()

    asyncio.run(main())
