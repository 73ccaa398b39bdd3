"""Read and check the setting `campaigns={…}` of an agent.

The setting has defaults for the options of campaigns, a rate limit, and the words with which users opt out and in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ostinato.errors import OstinatoError, check_text, did_you_mean, short_repr
from ostinato.flows.campaigns.options import CampaignOptions, read_options
from ostinato.flows.campaigns.rate import Rate, read_rate
from ostinato.when.durations import DAY
from ostinato.when.instants import Micros

_DEFAULTS = ("quiet_hours", "frequency_cap", "require_opt_in", "in_flight", "max_recipients")
_WORDS = ("stop_words", "start_words", "stop_reply", "start_reply")  # the module `consent` reads these settings
STOP_WORDS = ("stop", "stopall", "stop all", "unsubscribe", "opt out", "optout", "sair", "parar", "descadastrar")
START_WORDS = ("start", "unstop", "subscribe", "opt in", "optin", "voltar")


@dataclass(frozen=True, slots=True)
class CampaignsSetting:
    """The zone of an agent, and the rate limit of all its campaigns together, or None if there is no limit."""

    zone: str
    rate: Rate | None = None


def setting_of(declared: Mapping[str, Any]) -> CampaignsSetting:
    rate = (declared.get("campaigns") or {}).get("rate")
    return CampaignsSetting(declared["tz"], None if rate is None else read_rate(rate, "rate"))


def check_defaults(value: Mapping[str, Any], where: str) -> None:
    """Raise OstinatoError if a part of the setting `campaigns` is unknown or invalid."""
    if not isinstance(value, Mapping):
        raise OstinatoError(f"{where} {short_repr(value)} is not an object")
    for name, setting in value.items():
        if name in _DEFAULTS:
            read_options({name: setting}, where)
        elif name == "rate":
            read_rate(setting, f"{where}.rate")
        elif name in ("stop_words", "start_words"):
            if not _is_list_of_words(setting):
                raise OstinatoError(f"{where}.{name} {short_repr(setting)} is not a list of words")
        elif name in ("stop_reply", "start_reply"):
            check_text(setting, f"{where}.{name}")
        else:
            names = (*_DEFAULTS, "rate", *_WORDS)
            hint = did_you_mean(str(name), names) or f"there are {', '.join(names)}"
            raise OstinatoError(f"{where} has no {short_repr(name)}; {hint}")
    starts = {word.casefold() for word in value.get("start_words", START_WORDS)}
    both = [word for word in value.get("stop_words", STOP_WORDS) if word.casefold() in starts]
    if both:
        raise OstinatoError(f"{where}: {both[0]!r} is in both stop_words and start_words, so it could not opt in again")


def _is_list_of_words(value: object) -> bool:
    if not isinstance(value, Collection) or isinstance(value, str | bytes | Mapping):
        return False
    return all(isinstance(word, str) and word.strip() for word in value)


def with_defaults(options: object, defaults: Mapping[str, Any]) -> object:
    """Return the options of a campaign. An option that is missing gets the agent's default, if there is one.

    An option that is None is not missing, so it stays None. If `options` is neither None nor a mapping, return it
    unchanged, because `read_options` refuses it later.
    """
    if options is not None and not isinstance(options, Mapping):
        return options
    return {**{name: defaults[name] for name in _DEFAULTS if name in defaults}, **(options or {})}


def check_cap(options: CampaignOptions, keep: Micros | None, where: str) -> None:
    """Raise OstinatoError if the period of the frequency cap is longer than `keep`, after which campaigns are deleted.

    The cap cannot count the messages of deleted campaigns. If `keep` is None, every period is allowed.
    """
    if keep is not None and options.frequency_cap is not None and options.frequency_cap[1] > keep:
        raise OstinatoError(
            f"{where}.frequency_cap.per is {options.frequency_cap[1] / DAY:g} d, and the agent keeps its "
            f"campaigns for {keep / DAY:g} d only, so older ones could not be counted; raise the agent's keep, "
            "or lower the cap's per"
        )
