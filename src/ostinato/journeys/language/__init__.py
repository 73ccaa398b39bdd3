"""Define the language of journeys. The reader builds a `Definition` from a document in this language."""

from ostinato.journeys.language.definition import Definition
from ostinato.journeys.language.reader import Draft, draft, read
from ostinato.journeys.language.shapes import Expression, expressions
from ostinato.journeys.language.states import Graph, State, targets

__all__ = ["Definition", "Draft", "Expression", "Graph", "State", "draft", "expressions", "read", "targets"]
