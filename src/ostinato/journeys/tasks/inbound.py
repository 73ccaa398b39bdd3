"""What the tasks have in common that look at who is calling. They never end the run for what a caller did: what is
wrong is written where the identity would be, and the journey decides. Only a mistake of this engine's configuration
ends it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.errors import did_you_mean
from ostinato.journeys.language.shapes import identifier, key, one_of, text
from ostinato.journeys.plugins import Fault, Problem, Request, Result, TaskCall
from ostinato.journeys.problems import Severity
from ostinato.model import Json

_TYPES = "https://journeyforge.dev/problem/plugins"
PROFILE = "default"


class Denied(Exception):
    """The caller is not who it should be. The words hold nothing of what the caller sent."""

    def __init__(self, code: str, title: str, status: int = 401) -> None:
        super().__init__(title)
        self.code = code
        self.title = title
        self.status = status


class Misconfigured(Exception):
    """This engine cannot judge the caller."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbound:
    """Settings that all of them have."""

    profile: str = key("profile", text(), PROFILE)
    auth_var: str = key("authVar", identifier, "auth")


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where in a request it stands."""

    location: str = key("location", one_of("header", "query"), "header")
    name: str = key("name", text())

    def found(self, request: Request | None) -> str | None:
        return None if request is None else sent(request, self.location, self.name)


def sent(request: Request, location: str, name: str) -> str | None:
    """What a request has there; names of headers are the same in any case."""
    if location == "header":
        return next((value for one, value in request.headers.items() if one.lower() == name.lower()), None)
    return (request.query if location == "query" else request.cookies).get(name)


def accepted(call: TaskCall, variable: str, member: str, found: Mapping[str, Any]) -> Result:
    """The context with what is known of the caller; what else stands there stays."""
    around: Json = call.context.get(variable)
    kept = around if isinstance(around, Mapping) else {}
    return Result({**call.context, variable: {**kept, member: dict(found)}})


def denied(call: TaskCall, variable: str, member: str, reason: Denied) -> Result:
    kebab = reason.code.lower().partition("_")[2].replace("_", "-")
    problem = {
        "type": f"{_TYPES}/{member.lower()}/{kebab}",
        "title": reason.title,
        "status": reason.status,
        "code": reason.code,
    }
    return accepted(call, variable, member, {"problem": problem})


def misconfigured(problem: Misconfigured) -> Problem:
    return Problem(problem.code, "The caller cannot be judged here", str(problem), internal=True)


def unknown_profile(profile: str, known: Mapping[str, object], prefix: str) -> Misconfigured:
    hint = did_you_mean(profile, known) or f"there are {', '.join(known) or 'none'}"
    return Misconfigured(f"{prefix}_CONFIG_PROFILE", f"this engine has no profile {profile!r}; {hint}")


def profile_fault(profile: str, known: Mapping[str, object]) -> list[Fault]:
    """A warning: where a journey is checked need not be where it runs."""
    if profile in known:
        return []
    message = f"this engine has no profile {profile!r}"
    return [Fault("auth-profile", ("profile",), message, did_you_mean(profile, known), Severity.WARNING)]
