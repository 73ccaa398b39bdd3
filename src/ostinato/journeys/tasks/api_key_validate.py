"""`apiKeyValidate:v1`. A key is compared as a hash, with every known one, in constant time, and goes nowhere."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import key, of
from ostinato.journeys.plugins import Fault, Problem, Result, TaskCall
from ostinato.journeys.settings import JourneySettings, hash_api_key
from ostinato.journeys.tasks.inbound import (
    Denied,
    Inbound,
    Source,
    accepted,
    denied,
    misconfigured,
    profile_fault,
    unknown_profile,
)
from ostinato.journeys.tasks.reading import faults_in, settings_of
from ostinato.model import Json

MEMBER = "apiKey"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeySettings(Inbound):
    source: Source = key("source", of(Source), Source(name="X-Api-Key"))


@dataclass(slots=True)
class ApiKeyValidate:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "apiKeyValidate"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return faults_in(ApiKeySettings, settings, lambda found: profile_fault(found.profile, self.settings.api_keys))

    async def run(self, call: TaskCall) -> Result | Problem:
        settings = settings_of(ApiKeySettings, call.settings)
        profile = self.settings.api_keys.get(settings.profile)
        if profile is None:
            return misconfigured(unknown_profile(settings.profile, self.settings.api_keys, "APIKEY"))
        given = settings.source.found(call.request)
        if not given:
            return denied(call, settings.auth_var, MEMBER, Denied("APIKEY_MISSING", "No API key was sent"))
        hashed = hash_api_key(given)
        found = [id for id, known in profile.keys.items() if hmac.compare_digest(known, hashed)]
        if not found:
            return denied(call, settings.auth_var, MEMBER, Denied("APIKEY_INVALID", "The API key is not known"))
        return accepted(call, settings.auth_var, MEMBER, {"keyId": found[0]})
