"""Define the stored form of a workflow: its topics, producers, consumers and policy, without code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import orjson

from ostinato.when import Interval, Spec, read_spec
from ostinato.when.documents import spec_json
from ostinato.when.instants import Micros
from ostinato.workflows.model import Policy, from_document


@dataclass(frozen=True, slots=True)
class Topic:
    """A named stream of events of one workflow."""

    workflow: str
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ProducerSchedule:
    """When a producer runs: `interval` after its last commit, or at the times of `spec`."""

    interval: Micros | None = None
    spec: Spec | None = None

    def next_after(self, now: Micros) -> Micros | None:
        """Return the next time after `now`, or None if the spec has no more times."""
        if self.interval is not None:
            return now + self.interval
        assert self.spec is not None
        return self.spec.compiled.next(now)

    def describe(self) -> str:
        """Return the schedule in words, such as `Checks every 5 minutes`."""
        if self.interval is not None:
            words = interval_spec(self.interval).describe()
            return f"Checks {words[:1].lower()}{words[1:]}"
        assert self.spec is not None
        return self.spec.describe()

    def to_json(self) -> dict[str, Any]:
        if self.interval is not None:
            return {"interval": self.interval}
        assert self.spec is not None
        return {"spec": spec_json(self.spec)}

    @staticmethod
    def from_json(document: Mapping[str, Any]) -> ProducerSchedule:
        if "interval" in document:
            return ProducerSchedule(interval=document["interval"])
        return ProducerSchedule(spec=read_spec(document["spec"]))


@dataclass(frozen=True, slots=True)
class ProducerDefinition:
    name: str
    schedule: ProducerSchedule
    publishes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsumerDefinition:
    name: str
    subscribes: tuple[str, ...]
    publishes: tuple[str, ...]
    mutates: bool
    emits: bool  # it has a `next`


@dataclass(frozen=True)
class WorkflowDefinition:
    """The structure of a workflow, without the code of its handlers."""

    topics: tuple[str, ...]
    producers: tuple[ProducerDefinition, ...]
    consumers: tuple[ConsumerDefinition, ...]
    policy: Policy

    @cached_property
    def handlers(self) -> dict[str, ProducerDefinition | ConsumerDefinition]:
        handlers: list[ProducerDefinition | ConsumerDefinition] = [*self.producers, *self.consumers]
        return {handler.name: handler for handler in handlers}

    def consumer_of(self, topic: str) -> ConsumerDefinition | None:
        return next((consumer for consumer in self.consumers if topic in consumer.subscribes), None)

    def to_json(self) -> str:
        document = {
            "topics": self.topics,
            "producers": [
                {"name": producer.name, "schedule": producer.schedule.to_json(), "publishes": producer.publishes}
                for producer in self.producers
            ],
            "consumers": [asdict(consumer) for consumer in self.consumers],
            "policy": asdict(self.policy),
        }
        return orjson.dumps(document, option=orjson.OPT_SORT_KEYS).decode()

    @staticmethod
    def from_json(text: str) -> WorkflowDefinition:
        document = orjson.loads(text)
        return WorkflowDefinition(
            topics=tuple(document["topics"]),
            producers=tuple(
                ProducerDefinition(row["name"], ProducerSchedule.from_json(row["schedule"]), tuple(row["publishes"]))
                for row in document["producers"]
            ),
            consumers=tuple(
                ConsumerDefinition(
                    row["name"], tuple(row["subscribes"]), tuple(row["publishes"]), row["mutates"], row["emits"]
                )
                for row in document["consumers"]
            ),
            policy=from_document(Policy, document["policy"]),
        )


def interval_spec(interval: Micros) -> Spec:
    return Spec(intervals=(Interval(interval),))
