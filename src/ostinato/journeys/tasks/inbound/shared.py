"""Share code between the tasks that authenticate a caller. If a task refuses a caller, the run does not fail. The
problem is written to the context, and the journey decides what to do. Only a mistake in the configuration fails the
run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.errors import did_you_mean
from ostinato.journeys.language.shapes import identifier, key, one_of, text
from ostinato.journeys.problems import Severity
from ostinato.journeys.task_kind import Fault, Request, TaskCall, TaskProblem, TaskResult
from ostinato.model import Json

_TYPES = "https://journeyforge.dev/problem/plugins"
PROFILE = "default"


class Denied(Exception):
    """Raised if the caller is not accepted. The message contains nothing that the caller sent."""

    def __init__(self, code: str, title: str, status: int = 401) -> None:
        super().__init__(title)
        self.code = code
        self.title = title
        self.status = status


class Misconfigured(Exception):
    """Raised if a caller cannot be checked, because the configuration is wrong."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundSettings:
    """The settings that are common to all tasks that authenticate a caller."""

    profile: str = key("profile", text(), PROFILE)
    auth_var: str = key("authVar", identifier, "auth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The place of a value in a request."""

    location: str = key("location", one_of("header", "query"), "header")
    name: str = key("name", text())

    def read(self, request: Request | None) -> str | None:
        return None if request is None else read_value(request, self.location, self.name)


def read_value(request: Request, location: str, name: str) -> str | None:
    """Return the value of a header, query parameter or cookie, or None. Header names are case-insensitive."""
    if location == "header":
        return request.header(name)
    return (request.query if location == "query" else request.cookies).get(name)


def accept_caller(call: TaskCall, variable: str, member: str, identity: Mapping[str, Any]) -> TaskResult:
    """Return a task result that stores the caller's identity in the context. It becomes the field `member` of the
    object `variable`."""
    around: Json = call.context.get(variable)
    kept = around if isinstance(around, Mapping) else {}
    return TaskResult({**call.context, variable: {**kept, member: dict(identity)}})


def deny_caller(call: TaskCall, variable: str, member: str, reason: Denied) -> TaskResult:
    kebab = reason.code.lower().partition("_")[2].replace("_", "-")
    problem = {
        "type": f"{_TYPES}/{member.lower()}/{kebab}",
        "title": reason.title,
        "status": reason.status,
        "code": reason.code,
    }
    return accept_caller(call, variable, member, {"problem": problem})


def configuration_problem(problem: Misconfigured) -> TaskProblem:
    return TaskProblem(problem.code, "The caller cannot be checked here", str(problem), internal=True)


def unknown_profile(profile: str, profiles: Mapping[str, object], prefix: str) -> Misconfigured:
    hint = did_you_mean(profile, profiles) or f"there are {', '.join(profiles) or 'none'}"
    return Misconfigured(f"{prefix}_CONFIG_PROFILE", f"this engine has no profile {profile!r}; {hint}")


def profile_fault(profile: str, profiles: Mapping[str, object]) -> list[Fault]:
    """Return a list with a warning if the profile is unknown, else an empty list. An unknown profile is no error,
    because the engine that checks a journey may not be the one that runs it."""
    if profile in profiles:
        return []
    message = f"this engine has no profile {profile!r}"
    return [Fault("auth-profile", ("profile",), message, did_you_mean(profile, profiles), Severity.WARNING)]
