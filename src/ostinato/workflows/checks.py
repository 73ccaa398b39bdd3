"""Check a workflow: a topic has at most one publisher and one consumer, and a topic with a publisher has a consumer."""

from __future__ import annotations

from collections.abc import Iterator

from ostinato.workflows.definition import WorkflowDefinition


def find_mistakes(definition: WorkflowDefinition) -> Iterator[str]:
    """Yield what is wrong with a workflow, one sentence for each mistake."""
    if not definition.handlers:
        yield "it has neither a producer nor a consumer"
    for topic in definition.topics:
        publishers = [one.name for one in definition.handlers.values() if topic in one.publishes]
        consumers = [one.name for one in definition.consumers if topic in one.subscribes]
        if len(publishers) > 1:
            yield f"{publishers[0]!r} and {publishers[1]!r} both publish to {topic!r}; a topic has one publisher"
        if len(consumers) > 1:
            yield f"{consumers[0]!r} and {consumers[1]!r} both consume {topic!r}; publish to a topic for each of them"
        if publishers and not consumers:
            yield f"nobody consumes topic {topic!r}, to which {publishers[0]!r} publishes"
