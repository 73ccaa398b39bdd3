"""Errors as Temporal's clients see them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from temporalio.api.enums.v1 import RetryState
from temporalio.client import WorkflowFailureError
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

from ostinato import Fatal
from ostinato.testing import World
from tests.support.wire import QUEUE, wired


@pytest.mark.parametrize("kind", ["application", "fatal", "other"])
async def test_what_a_job_raises_comes_back_as_it_was(world: World, kind: str) -> None:
    attempts = []

    @world.app.job()
    async def work() -> None:
        attempts.append(1)
        if kind == "application":
            raise ApplicationError("no such account", {"account": 7}, "x", type="NoAccount", non_retryable=True)
        raise Fatal("never") if kind == "fatal" else ValueError("perhaps")

    async with wired(world) as wire:
        retry = RetryPolicy(maximum_attempts=3, initial_interval=timedelta(seconds=1))
        handle = await wire.client.start_workflow("work", id="w", retry_policy=retry, **QUEUE)
        await wire.advance("1m")
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()
        cause = failed.value.cause
        assert isinstance(cause, ApplicationError)
        end = (await handle.fetch_history()).events[-1].workflow_execution_failed_event_attributes
        if kind == "application":
            assert (cause.message, cause.type, list(cause.details)) == (
                "no such account",
                "NoAccount",
                [{"account": 7}, "x"],
            )
        assert cause.non_retryable == (kind != "other")
        assert len(attempts) == (3 if kind == "other" else 1)
        final = RetryState.RETRY_STATE_NON_RETRYABLE_FAILURE
        assert (end.retry_state == final) == (kind != "other")


async def test_an_application_error_says_when_to_try_again(world: World) -> None:
    at = []

    @world.app.job(retry=2)
    async def work() -> None:
        at.append(world.app.engine.clock.now())
        raise ApplicationError("later", next_retry_delay=timedelta(minutes=10))

    await world.start("work")
    await world.advance("20m")
    assert [(later - first) // 1_000_000 for first, later in [at]] == [600]
