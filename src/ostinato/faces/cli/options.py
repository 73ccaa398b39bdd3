"""Options that say how a schedule runs, the same for one that is made and one that is changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from ostinato.client import Json
from ostinato.faces.cli.given import only_given, read_object

Input = Annotated[str | None, typer.Option(help="The job's input, a JSON object.")]
Overlap = Annotated[
    str | None, typer.Option(help="skip, buffer_one, buffer_all, cancel_other, terminate_other, allow_all.")
]
CatchUp = Annotated[str | None, typer.Option(help="skip, latest, all, or a window such as 1h.")]
Timeout = Annotated[str | None, typer.Option(help="How long an attempt may take.")]
Retry = Annotated[int | None, typer.Option(help="Attempts in all.")]
Queue = Annotated[str | None, typer.Option(help="The queue its runs go to.")]
Priority = Annotated[int | None, typer.Option(help="Higher goes first.")]
Keep = Annotated[int | None, typer.Option(help="How many of its occurrences to keep.")]
Remaining = Annotated[int | None, typer.Option(help="How many more times it runs before it is completed.")]
MaxBuffer = Annotated[int | None, typer.Option(help="How many occurrences may wait.")]
PauseAfter = Annotated[
    int | None, typer.Option("--pause-after-failures", help="Pause it after this many failures in a row.")
]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A tag; several times for several.")]
Notes = Annotated[str | None, typer.Option(help="Notes; kept with the schedule.")]


@dataclass(frozen=True, slots=True)
class How:
    """What is not given is None."""

    input: Input = None
    overlap: Overlap = None
    catchup: CatchUp = None
    timeout: Timeout = None
    retry: Retry = None
    queue: Queue = None
    priority: Priority = None
    keep: Keep = None
    remaining: Remaining = None
    max_buffer: MaxBuffer = None
    pause_after_failures: PauseAfter = None
    tag: Tags = None
    notes: Notes = None

    def given(self) -> Json:
        return only_given(
            input=read_object(self.input, "--input"),
            overlap=self.overlap,
            catchup=self.catchup,
            timeout=self.timeout,
            retry=self.retry,
            queue=self.queue,
            priority=self.priority,
            keep=self.keep,
            remaining=self.remaining,
            max_buffer=self.max_buffer,
            pause_after_failures=self.pause_after_failures,
            tags=self.tag,
            notes=self.notes,
        )
