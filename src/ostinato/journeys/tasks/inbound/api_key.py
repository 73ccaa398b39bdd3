"""Run the task `apiKeyValidate:v1`, which checks an API key by its hash, in constant time. The key is not stored."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ostinato.journeys.language import Definition
from ostinato.journeys.language.shapes import key, of
from ostinato.journeys.settings import JourneySettings, hash_api_key
from ostinato.journeys.task_kind import Fault, TaskCall, TaskProblem, TaskResult
from ostinato.journeys.tasks.inbound.shared import (
    CallerDenied,
    InboundSettings,
    ValueSource,
    authenticate,
    profile_fault,
    unknown_profile,
)
from ostinato.journeys.tasks.read_settings import check_settings, read_settings
from ostinato.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKeySettings(InboundSettings):
    source: ValueSource = key("source", of(ValueSource), ValueSource(name="X-Api-Key"))


@dataclass(slots=True)
class ApiKeyValidate:
    settings: JourneySettings = field(default_factory=JourneySettings)
    name: str = "apiKeyValidate"
    major: int = 1

    def check(self, settings: Mapping[str, Json], definition: Definition) -> Iterable[Fault]:
        return check_settings(
            ApiKeySettings, settings, lambda found: profile_fault(found.profile, self.settings.api_keys)
        )

    async def run(self, call: TaskCall) -> TaskResult | TaskProblem:
        settings = read_settings(ApiKeySettings, call.settings)
        return await authenticate(call, settings, "apiKey", self._validate(call, settings))

    async def _validate(self, call: TaskCall, settings: ApiKeySettings) -> dict[str, str]:
        profile = self.settings.api_keys.get(settings.profile)
        if profile is None:
            raise unknown_profile(settings.profile, self.settings.api_keys, "APIKEY")
        api_key = settings.source.read(call.request)
        if not api_key:
            raise CallerDenied("APIKEY_MISSING", "No API key was sent")
        hashed = hash_api_key(api_key)
        key_ids = [id for id, known in profile.keys.items() if hmac.compare_digest(known, hashed)]
        if not key_ids:
            raise CallerDenied("APIKEY_INVALID", "The API key is not known")
        return {"keyId": key_ids[0]}
