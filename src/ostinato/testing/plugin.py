"""Provide the fixture `world` for pytest. An async test that uses the fixture runs on virtual time, together with its
async fixtures. This plugin runs such a test itself, in place of pytest-asyncio or anyio."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, TypeGuard

import pytest

if TYPE_CHECKING:
    from ostinato.testing.world import World

_RUNNERS: dict[World, asyncio.Runner] = {}


@pytest.fixture
def world() -> World:
    """Return a world: a real engine on a real SQLite file, on virtual time."""
    from ostinato.testing.world import World

    return World()


def _is_world(value: object) -> TypeGuard[World]:
    module = sys.modules.get("ostinato.testing.world")  # a project that has not loaded it has no world
    return module is not None and isinstance(value, module.World)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Generator[None, object, object]:
    world = pyfuncitem.funcargs.get("world")
    function = pyfuncitem.obj
    test = inspect.unwrap(function, stop=inspect.iscoroutinefunction)  # pytest-asyncio wraps it in a plain function
    if not _is_world(world) or not inspect.iscoroutinefunction(test):
        return (yield)
    pyfuncitem.obj = _synchronous(world, test)
    try:
        return (yield)
    finally:
        pyfuncitem.obj = function


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_fixture_setup(
    fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
) -> Generator[None, object, object]:
    function: Any = fixturedef.func
    world = request.getfixturevalue("world") if _on_virtual_time(fixturedef, request) else None
    if not _is_world(world):
        value = yield
        if _is_world(value):
            fixturedef.addfinalizer(lambda: _close(value))
        return value
    bound = function.__func__.__get__(request.instance) if inspect.ismethod(function) else function
    wrap = _synchronous if inspect.iscoroutinefunction(function) else _synchronous_generator
    fixturedef.func = wrap(world, bound)  # type: ignore[misc]
    try:
        return (yield)
    finally:
        fixturedef.func = function  # type: ignore[misc]


def _on_virtual_time(fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> bool:
    """Return whether a fixture runs on the world's loop. It does if all of these are true: the fixture is async, its
    scope is `function`, the test uses `world`, and `world` itself does not need the fixture."""
    function = fixturedef.func
    return (
        (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function))
        and fixturedef.scope == "function"
        and "world" in request.fixturenames
        and fixturedef.argname not in _needs(request, "world")
    )


def _needs(request: pytest.FixtureRequest, name: str) -> set[str]:
    """Return the name of a fixture, and the names of all fixtures that it needs, directly or through other fixtures."""
    fixtures = request.node._fixtureinfo.name2fixturedefs
    names, left = set[str](), [name]
    while left:
        name = left.pop()
        if name not in names:
            names.add(name)
            left += fixtures[name][-1].argnames if name in fixtures else ()
    return names


def _synchronous(world: World, function: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Any]:
    def run(**arguments: Any) -> Any:
        return _run(world, function(**arguments))

    return run


def _synchronous_generator(world: World, function: Callable[..., AsyncGenerator[Any]]) -> Callable[..., Any]:
    def generate(**arguments: Any) -> Generator[Any]:
        generator = function(**arguments)

        async def following(*end: Any) -> Any:
            return await anext(generator, *end)

        yield _run(world, following())
        ended = object()
        if _run(world, following(ended)) is not ended:
            raise ValueError(f"the fixture {function.__name__} yields more than once")

    return generate


def _run(world: World, coroutine: Coroutine[Any, Any, Any]) -> Any:
    if world not in _RUNNERS:
        _RUNNERS[world] = _make_runner(world)
    runner = _RUNNERS[world]
    loop: Any = runner.get_loop()
    return runner.run(loop.watch(coroutine))


def _make_runner(world: World) -> asyncio.Runner:
    from ostinato.testing.virtual_time import VirtualLoop

    return asyncio.Runner(loop_factory=lambda: VirtualLoop(world.clock))


def _close(world: World) -> None:
    from ostinato.testing.stuck import end_tasks

    try:
        _run(world, world.close())
    finally:
        runner = _RUNNERS.pop(world)
        try:
            end_tasks(runner.get_loop())
        finally:
            runner.close()
