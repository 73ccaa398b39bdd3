"""Edit schedules at the request of users. Each call is one transaction, which locks the row of an existing schedule."""

from __future__ import annotations

from ostinato.schedules.operations.edit.apply_change import Edit, change, combine_edits, save, with_next
from ostinato.schedules.operations.edit.conflict_token import TokenMismatch
from ostinato.schedules.operations.edit.create_schedules import AlreadyExists, create, insert_schedules
from ostinato.schedules.operations.edit.delete_schedule import delete
from ostinato.schedules.operations.edit.pause_and_resume import pause, pause_edit, resume, resume_edit
from ostinato.schedules.operations.edit.skip_and_move import leave_out, move, put_back
from ostinato.schedules.operations.edit.start_backfill import backfill_edit, set_backfill_state
from ostinato.schedules.operations.edit.trigger_run import trigger, trigger_edit
from ostinato.schedules.operations.edit.update_definition import update, update_edit
from ostinato.schedules.operations.edit.user_call import Answer, Call, find_answer, run_once

__all__ = [
    "AlreadyExists",
    "Answer",
    "Call",
    "Edit",
    "TokenMismatch",
    "backfill_edit",
    "change",
    "combine_edits",
    "create",
    "delete",
    "find_answer",
    "insert_schedules",
    "leave_out",
    "move",
    "pause",
    "pause_edit",
    "put_back",
    "resume",
    "resume_edit",
    "run_once",
    "save",
    "set_backfill_state",
    "trigger",
    "trigger_edit",
    "update",
    "update_edit",
    "with_next",
]
