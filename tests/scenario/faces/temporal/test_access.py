"""Who may do what over the wire: the same tokens, roles and namespaces as everywhere."""

from __future__ import annotations

import re
from typing import Any

import temporalio.api.operatorservice.v1 as operator_messages
import temporalio.api.workflowservice.v1 as workflow_messages
from temporalio.api.errordetails.v1 import NamespaceAlreadyExistsFailure
from temporalio.api.operatorservice.v1 import (
    AddSearchAttributesRequest,
    ListSearchAttributesRequest,
    RemoveSearchAttributesRequest,
)
from temporalio.api.workflowservice.v1 import (
    DescribeNamespaceRequest,
    ListNamespacesRequest,
    RegisterNamespaceRequest,
)
from temporalio.client import Client, Schedule, ScheduleActionStartWorkflow, ScheduleSpec
from temporalio.common import SearchAttributeKey, SearchAttributePair, TypedSearchAttributes
from temporalio.service import RPCStatusCode

from ostinato.faces.temporal.services import OperatorService, WorkflowService
from ostinato.testing import World
from tests.support.wire import Wired, refused, wired

SCHEDULE = Schedule(
    ScheduleActionStartWorkflow("job", id="w", task_queue="default"), spec=ScheduleSpec(cron_expressions=["0 9 * * *"])
)


async def client(wire: Wired, token: str | None, namespace: str = "default") -> Client:
    metadata = {"authorization": f"Bearer {token}"} if token else {}
    return await Client.connect(wire.address, namespace=namespace, rpc_metadata=metadata, lazy=True)


async def token(wire: Wired, role: str, **more: Any) -> str:
    return (await wire.app.create_token(role, **more))[0]


async def test_without_a_token_nobody_gets_in(world: World) -> None:
    async with wired(world, open_on_loopback=False) as wire:
        for wrong in (None, "nonsense", "ost_01m7h1ngr3fytgk4g6gyfsat89_" + "x" * 43):
            someone = await client(wire, wrong)
            with refused(RPCStatusCode.UNAUTHENTICATED):
                await someone.create_schedule("s", SCHEDULE)
        assert await someone.service_client.check_health()  # that anyone may know
        assert await wire.app.schedules.list() == []


async def test_every_call_asks_at_the_door(world: World) -> None:
    """Whatever is called, with a request as empty as may be: nobody is let in without a token."""
    async with wired(world, open_on_loopback=False) as wire:
        someone = await client(wire, None)
        for service, servicer, messages in (
            (someone.workflow_service, WorkflowService, workflow_messages),
            (someone.operator_service, OperatorService, operator_messages),
        ):
            calls = [name for name in dir(servicer) if name[0].isupper() and name != "GetSystemInfo"]
            assert len(calls) > 10
            for name in calls:
                method = getattr(service, re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower())
                with refused(RPCStatusCode.UNAUTHENTICATED):
                    await method(getattr(messages, f"{name}Request")())


async def test_roles(world: World) -> None:
    async with wired(world, open_on_loopback=False) as wire:
        reader = await client(wire, await token(wire, "reader"))
        operator = await client(wire, await token(wire, "operator"))
        admin = await client(wire, await token(wire, "admin"))
        agent = await client(wire, await token(wire, "agent"))
        handle = await operator.create_schedule("s", SCHEDULE)
        assert (await wire.app.schedules.get("s")).actor is not None
        await reader.get_schedule_handle("s").describe()
        with refused(RPCStatusCode.PERMISSION_DENIED, "needs the role operator"):
            await reader.get_schedule_handle("s").delete()
        with refused(RPCStatusCode.PERMISSION_DENIED, "needs the role operator"):
            await reader.start_workflow("job", id="w", task_queue="default")
        with refused(RPCStatusCode.PERMISSION_DENIED, "needs the role operator"):
            await reader.start_workflow("job", id="w", start_signal="go", task_queue="default")
        with refused(RPCStatusCode.PERMISSION_DENIED):
            await agent.get_schedule_handle("s").describe()
        request = AddSearchAttributesRequest(namespace="default", search_attributes={"Colour": 2})  # type: ignore[dict-item]
        with refused(RPCStatusCode.PERMISSION_DENIED, "needs the role admin"):
            await operator.operator_service.add_search_attributes(request)
        await admin.operator_service.add_search_attributes(request)
        await handle.delete()


async def test_namespaces_are_apart(world: World) -> None:
    async with wired(world, open_on_loopback=False) as wire:
        await wire.app.create_namespace("blue")
        blue = await client(wire, await token(wire, "operator", namespace="blue"), "blue")
        everyone = await token(wire, "admin")
        await blue.create_schedule("s", SCHEDULE)
        default = await client(wire, everyone)
        with refused(RPCStatusCode.NOT_FOUND, "there is no schedule 's'"):
            await default.get_schedule_handle("s").describe()
        await (await client(wire, everyone, "blue")).get_schedule_handle("s").describe()
        stranger = await client(wire, blue.service_client.config.rpc_metadata["authorization"][7:], "default")  # type: ignore[arg-type]
        with refused(RPCStatusCode.NOT_FOUND, "Namespace default is not found"):
            await stranger.create_schedule("s", SCHEDULE)
        nowhere = await client(wire, everyone, "nowhere")
        with refused(RPCStatusCode.NOT_FOUND, "Namespace nowhere is not found"):
            await nowhere.create_schedule("s", SCHEDULE)
        seen = await blue.workflow_service.list_namespaces(ListNamespacesRequest())
        assert [one.namespace_info.name for one in seen.namespaces] == ["blue"]
        seen = await default.workflow_service.list_namespaces(ListNamespacesRequest())
        assert {one.namespace_info.name for one in seen.namespaces} == {"blue", "default"}
        with refused(RPCStatusCode.PERMISSION_DENIED):
            await blue.workflow_service.register_namespace(RegisterNamespaceRequest(namespace="green"))
        await default.workflow_service.register_namespace(RegisterNamespaceRequest(namespace="green"))
        description = await default.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace="green"))
        assert description.namespace_info.id == "green"


async def test_a_namespace_is_registered_once(world: World) -> None:
    async with wired(world) as wire:
        request = RegisterNamespaceRequest(namespace="green")
        await wire.client.workflow_service.register_namespace(request)
        with refused(RPCStatusCode.ALREADY_EXISTS, "Namespace green already exists") as error:
            await wire.client.workflow_service.register_namespace(request)
        (detail,) = error.value.grpc_status.details
        assert detail.Is(NamespaceAlreadyExistsFailure.DESCRIPTOR), detail.type_url


async def test_search_attributes_are_registered_by_name_and_type(world: World) -> None:
    async with wired(world) as wire:
        service = wire.client.operator_service
        add = AddSearchAttributesRequest(namespace="default", search_attributes={"Colour": 2, "Size": 3})  # type: ignore[dict-item]
        await service.add_search_attributes(add)
        await service.add_search_attributes(add)
        attributes = await service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))
        assert dict(attributes.custom_attributes) == {"Colour": 2, "Size": 3}
        assert attributes.system_attributes["ExecutionStatus"] == 2
        add.search_attributes["Colour"] = 3  # type: ignore[assignment]
        with refused(RPCStatusCode.FAILED_PRECONDITION, "'Colour' is registered as Keyword"):
            await service.add_search_attributes(add)
        for name, kind in (("WorkflowId", 2), ("TemporalX", 2), ("has space", 2), ("Odd", 99), ("Nothing", 0)):
            wrong = AddSearchAttributesRequest(namespace="default", search_attributes={name: kind})  # type: ignore[dict-item]
            with refused(RPCStatusCode.INVALID_ARGUMENT, f"search_attributes.{name}"):
                await service.add_search_attributes(wrong)
        remove = RemoveSearchAttributesRequest(namespace="default", search_attributes=["Size"])
        await service.remove_search_attributes(remove)
        with refused(RPCStatusCode.NOT_FOUND, "Size"):
            await service.remove_search_attributes(remove)
        attributes = await service.list_search_attributes(ListSearchAttributesRequest(namespace="default"))
        assert dict(attributes.custom_attributes) == {"Colour": 2}


async def test_what_was_set_when_an_attribute_had_another_type_stops_no_query(world: World) -> None:
    @world.app.job()
    async def greet() -> None: ...

    async with wired(world) as wire:
        service, attributes = (
            wire.client.operator_service,
            TypedSearchAttributes([SearchAttributePair(SearchAttributeKey.for_keyword("Colour"), "red")]),
        )
        for kind in (2, 3):
            add = AddSearchAttributesRequest(namespace="default", search_attributes={"Colour": kind})  # type: ignore[dict-item]
            await service.add_search_attributes(add)
            await wire.client.create_schedule(f"of-{kind}", SCHEDULE, search_attributes=attributes)
            await wire.client.start_workflow(
                "greet", id=f"of-{kind}", task_queue="default", search_attributes=attributes
            )
            remove = RemoveSearchAttributesRequest(namespace="default", search_attributes=["Colour"])
            await service.remove_search_attributes(remove)
            attributes = TypedSearchAttributes([SearchAttributePair(SearchAttributeKey.for_int("Colour"), 7)])
        await service.add_search_attributes(add)
        for query in ("Colour > 5", "Colour = 7", "Colour IN (7, 8)"):
            assert [one.id async for one in await wire.client.list_schedules(query)] == ["of-3"]
            assert [one.id async for one in wire.client.list_workflows(query)] == ["of-3"]
