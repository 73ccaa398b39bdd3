"""Values against JSON Schema 2020-12. Nothing is fetched: a schema's references lead within it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import orjson
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from referencing import Registry

from ostinato.errors import OstinatoError
from ostinato.model import Json


class NotValid(OstinatoError):
    """A value that its schema does not allow. `place` is where, as a JSON pointer."""

    def __init__(self, what: str, place: str, problem: str) -> None:
        super().__init__(f"{what}{place or ' as a whole'}: {problem}")
        self.what = what
        self.place = place
        self.problem = problem


def validate(value: Json, schema: Mapping[str, Json], what: str) -> None:
    """Raise `NotValid` with the most telling of what is wrong."""
    found = best_match(_validator(orjson.dumps(schema, option=orjson.OPT_SORT_KEYS).decode()).iter_errors(value))
    if found is None:
        return
    place = "".join(f"/{step}" for step in found.absolute_path)
    raise NotValid(what, place, _said(found.message))


def _said(message: str) -> str:
    """The validator quotes the value; a long one does not make a better message."""
    return message if len(message) <= 300 else f"{message[:300]}…"


@lru_cache(maxsize=1024)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(orjson.loads(schema), registry=Registry())
