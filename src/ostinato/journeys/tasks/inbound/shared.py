"""The common code of the tasks that authenticate a caller. If a task refuses a caller, it writes the problem to the
context, and the journey decides what to do. Only a mistake in the configuration fails the run."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.errors import did_you_mean
from ostinato.journeys.language.shapes import identifier, key, one_of, text
from ostinato.journeys.problems import Severity
from ostinato.journeys.task_kind import Fault, Request, TaskCall, TaskProblem, TaskResult
from ostinato.model import Json

_TYPES = "https://journeyforge.dev/problem/plugins"
PROFILE = "default"


class CallerDenied(Exception):
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
class ValueSource:
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


async def authenticate(
    call: TaskCall, settings: InboundSettings, member: str, identity: Awaitable[Mapping[str, Any]]
) -> TaskResult | TaskProblem:
    """Await the caller's identity, and return a result with a new context. In this context, the object
    `settings.auth_var` has the identity as its field `member`. If `identity` raises `CallerDenied`, the field is
    `{"problem": …}` instead, with an RFC 9457 problem. If `identity` raises `Misconfigured`, return a `TaskProblem`, so
    that the run fails."""
    try:
        entry = dict(await identity)
    except CallerDenied as reason:
        kebab = reason.code.lower().partition("_")[2].replace("_", "-")
        kind = f"{_TYPES}/{member.lower()}/{kebab}"
        entry = {"problem": {"type": kind, "title": reason.title, "status": reason.status, "code": reason.code}}
    except Misconfigured as problem:
        return TaskProblem(problem.code, "The caller cannot be checked here", str(problem), internal=True)
    around: Json = call.context.get(settings.auth_var)
    kept = around if isinstance(around, Mapping) else {}
    return TaskResult({**call.context, settings.auth_var: {**kept, member: entry}})


def unknown_profile(profile: str, profiles: Mapping[str, object], prefix: str) -> Misconfigured:
    hint = did_you_mean(profile, profiles) or f"there are {', '.join(profiles) or 'none'}"
    return Misconfigured(f"{prefix}_CONFIG_PROFILE", f"this engine has no profile {profile!r}; {hint}")


def profile_fault(profile: str, profiles: Mapping[str, object]) -> list[Fault]:
    """Return a list with one warning if this engine does not have the profile, and otherwise an empty list. The missing
    profile is not an error, because another engine that has it may run the journey."""
    if profile in profiles:
        return []
    message = f"this engine has no profile {profile!r}"
    return [Fault("auth-profile", ("profile",), message, did_you_mean(profile, profiles), Severity.WARNING)]
