"""Define the tables of journeys and their statements."""

from __future__ import annotations

from importlib import resources

from ostinato.store.columns import table
from ostinato.store.sql import Statements

_BINDING = table(
    "ostinato_journey_bindings",
    """schedule_id namespace definition version start subject start_at:int period max_runs:int runs_executed:int
    generation:int state made_by created:int updated:int actor last_context""",
)
_DEFINITION = table(
    "ostinato_journey_definitions", "namespace name version kind file digest created:int actor source documents"
)
TABLES = {
    "definition": _DEFINITION,
    "definition_info": _DEFINITION.without("namespace", "source", "documents"),
    "journey": table(
        "ostinato_journeys",
        """run_id namespace definition version phase current_state state context tags attributes binding_id
        binding_generation:int started:int updated:int finished:int""",
    ),
    "journey_label": table("ostinato_journey_labels", "namespace label run_id"),
    "journey_answer": table("ostinato_journey_answers", "run_id step key digest answer at:int"),
    "journey_cache": table("ostinato_journey_cache", "namespace key value expires:int"),
    "binding": _BINDING,
    "binding_info": _BINDING.without("last_context"),
}
statement = Statements(
    resources.files("ostinato.journeys").joinpath("statements.sql").read_text(encoding="utf-8"), TABLES
)
