"""Adapt the texts of API errors to the command line: name options of the command instead of fields of the request."""

from __future__ import annotations

from typing import Any

from ostinato.errors import OstinatoError

_ARGUMENTS = {
    "name": "NAME",
    "at": "AT",
    "to": "TO",
    "url": "URL",
    "id": "ID",
    "text": "FILE",
    "action": "JOB",
    "choice": "CHOICE",
    "message_id": "MESSAGE",
    "function": "FUNCTION",
    "payload": "PAYLOAD",
}
_OPTIONS = {
    "tags": "tag",
    "patterns": "pattern",
    "subjectId": "subject",
    "journeyName": "name",
    "run_id": "run",
    "turn_id": "turn",
    "expr": "cron",
    "run_at": "at",
    "user_external_id": "user",
    "session_id": "session",
    "allow_session_bootstrap": "bootstrap",
}
_SPREAD = ("target", "trigger", "options")  # fields whose own fields are options


def in_words(problem: OstinatoError) -> str:
    """Return the text of an error, with names of options in place of names of fields."""
    body = getattr(problem.__cause__, "body", None)
    problems = body.get("problems") if isinstance(body, dict) else None
    if not problems or not all("field" in one and "message" in one for one in problems):
        return str(problem)
    return "; ".join(map(_words, problems))


def _words(problem: dict[str, Any]) -> str:
    """Return the text of one problem: the option, its wrong value and the message, for example `--limit 0: …`. If the
    message itself begins with the name of the field, return only the message."""
    field, message = str(problem["field"]), str(problem["message"])
    name = _without_number(field.rpartition(".")[2])
    names = (name, _OPTIONS.get(name, name))
    if name and message.startswith(tuple(f"{one}{end}" for one in names for end in (" ", ": "))):
        return message
    return f"{option(field)}{_value(problem)}: {message}"


def option(field: str) -> str:
    """Return the option or argument that sets the field `field` of a request, for an error message.

    - A field of the API becomes its option or argument: `query.limit` becomes `--limit`, and `body.name` becomes
      `NAME`.
    - A field in the input of a journey is a JSON pointer: `/customer/name` becomes `--input, customer.name`. The
      pointer to the whole input is "": it becomes `--input`.
    - Any other text is returned unchanged.
    """
    if not field or field.startswith("/"):
        return ", ".join(["--input", *filter(None, [field[1:].replace("/", ".")])])
    place, _, rest = field.partition(".")
    if place not in ("body", "query", "path", "header") or not rest:
        return field
    if field == "body.user":
        return "USER"
    name, _, inner = rest.partition(".")
    if name in _SPREAD and inner:
        name, _, inner = inner.partition(".")
    name = _without_number(name)
    name = _OPTIONS.get(name, name)
    shown = _ARGUMENTS.get(name) or f"--{name.replace('_', '-')}"
    return f"{shown}, {inner}" if inner else shown


def _without_number(name: str) -> str:
    """Return the name of a field without the number of an item: `patterns[0]` becomes `patterns`."""
    return name.partition("[")[0]


def _value(problem: dict[str, Any]) -> str:
    value = problem.get("value")
    if isinstance(value, str) and value[:1] == value[-1:] == "'":  # a long text, which is quoted and cut already
        return f" {value}"
    return f" {value!r}" if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
