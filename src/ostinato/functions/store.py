"""Define the tables of durable functions, and their SQL statements."""

from __future__ import annotations

from importlib import resources

from ostinato.functions.model import FunctionRecord, Message, StepKind, StepRecord, StepStatus
from ostinato.store.columns import reader, table, writer
from ostinato.store.contract import Migration
from ostinato.store.sql import Statements

TABLES = {
    "function": table(
        "ostinato_functions",
        """run_id namespace name version:int code pinned:int generation:int depth:int input state steps:int lines:int
        cancel:int cancelled:int reason created:int updated:int""",
    ),
    "step": table(
        "ostinato_function_steps",
        """run_id position kind name digest status seq:int result error attempts:int due:int child_id begun:int
        finished:int""",
    ),
    "message": table("ostinato_function_messages", "run_id id name payload sent:int actor position"),
}
read_function = reader(FunctionRecord, TABLES["function"].columns, pinned=bool)
function_row = writer(TABLES["function"].columns, pinned=int)
read_step = reader(StepRecord, TABLES["step"].columns, kind=StepKind, status=StepStatus)
step_row = writer(
    "kind.value" if name == "kind" else "status.value" if name == "status" else name for name in TABLES["step"].columns
)
read_message = reader(Message, TABLES["message"].columns)
message_row = writer(TABLES["message"].columns)


def _file(name: str) -> str:
    return resources.files("ostinato.functions").joinpath(name).read_text(encoding="utf-8")


statement = Statements(_file("statements.sql"), TABLES)
MIGRATIONS = (Migration(_file("migrations/0001.sqlite.sql"), _file("migrations/0001.postgres.sql")),)
