"""A run's cookie jar. It takes and sends cookies only for the domains that its journey names, and is kept where cached
values are, under the run's id, so that a run that goes on elsewhere still has it; it never is part of the context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from ostinato.journeys.language.blocks import Cookies
from ostinato.journeys.schemas import matches
from ostinato.when.instants import SECOND, Micros, from_datetime

MOST = 100  # cookies of a run
LONGEST = 4096  # characters of one
KEPT_S = 30 * 24 * 3600
KEPT_OF_A_CALL_S = 3600  # an API's call is over long before
_OURS = "ostinato"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*")


@dataclass(frozen=True, slots=True)
class Cookie:
    name: str
    value: str
    domain: str
    path: str = "/"
    host_only: bool = True
    secure: bool = False
    expires: Micros | None = None
    http_only: bool = False
    same_site: str | None = None

    def goes_to(self, url: httpx.URL, now: Micros) -> bool:
        host = url.host.lower()
        here = host == self.domain or (not self.host_only and host.endswith("." + self.domain))
        path = url.path or "/"
        below = path == self.path or path.startswith(self.path.rstrip("/") + "/")
        return here and below and (url.scheme == "https" or not self.secure) and not self.gone(now)

    def gone(self, now: Micros) -> bool:
        return self.expires is not None and self.expires <= now

    def written(self, now: Micros) -> str:
        """As a `Set-Cookie` of ours. Domain and path are those of the server it comes from, and mean nothing here."""
        age = [] if self.expires is None else [f"Max-Age={max(0, (self.expires - now) // SECOND)}"]
        flags = ["Secure"] * self.secure + ["HttpOnly"] * self.http_only
        site = [] if self.same_site is None else [f"SameSite={self.same_site}"]
        return "; ".join([f"{self.name}={self.value}", "Path=/", *age, *flags, *site])


class Jar:
    def __init__(self, cookies: Iterable[Cookie] = ()) -> None:
        self._cookies = {(one.domain, one.path, one.name): one for one in cookies}

    @classmethod
    def read(cls, value: Any) -> Jar:
        """From what `kept` has made."""
        return cls(Cookie(*one) for one in value or ())

    def kept(self) -> list[list[Any]]:
        fields = Cookie.__slots__
        return [[getattr(one, name) for name in fields] for one in self._cookies.values()]

    def header(self, settings: Cookies, url: httpx.URL, now: Micros) -> str | None:
        if not allowed(settings, url.host):
            return None
        found = [one for one in self._cookies.values() if one.goes_to(url, now)]
        found.sort(key=lambda one: -len(one.path))
        return "; ".join(f"{one.name}={one.value}" for one in found) or None

    def take(self, settings: Cookies, url: httpx.URL, set_cookies: Sequence[str], now: Micros) -> list[Cookie]:
        """Take what an answer sets, and forget what it takes back; both are returned."""
        given = [_read_cookie(text, url, now) for text in set_cookies] if allowed(settings, url.host) else []
        taken = []
        for cookie in given:
            if cookie is None:
                continue
            key = cookie.domain, cookie.path, cookie.name
            self._cookies.pop(key, None)
            if cookie.gone(now) or len(self._cookies) < MOST:
                taken.append(cookie)
            if not cookie.gone(now) and len(self._cookies) < MOST:
                self._cookies[key] = cookie
        return taken


def for_caller(settings: Cookies, taken: Iterable[Cookie], now: Micros) -> dict[str, str]:
    """Those that go back to who is calling, as `Set-Cookie` lines by their names. Our own are nobody else's to set."""
    rule = settings.return_to_client
    if rule is None or rule.mode == "none":
        return {}
    names, patterns = rule.include.names, rule.include.name_patterns
    return {
        one.name: one.written(now)
        for one in taken
        if not one.name.lower().startswith(_OURS)
        and (
            rule.mode == "allFromAllowedDomains"
            or one.name in names
            or any(matches(f"^(?:{pattern})$", one.name) for pattern in patterns)
        )
    }


def allowed(settings: Cookies, host: str) -> bool:
    """Whether a host is among the jar's domains. `.example.com` means what is below it, and not itself."""
    host = host.lower().removesuffix(".")
    patterns = [one.pattern.lower() for one in settings.jar.domains] if settings.jar else []
    return any(host.endswith(one) if one.startswith(".") else host == one for one in patterns)


def _read_cookie(text: str, url: httpx.URL, now: Micros) -> Cookie | None:
    """A `Set-Cookie` as RFC 6265 reads it; None where it is no cookie, or not for this host to set."""
    first, *rest = text.split(";")
    name, is_pair, value = (part.strip() for part in first.partition("="))
    if not is_pair or len(text) > LONGEST or not _NAME.fullmatch(name) or not _VALUE.fullmatch(value.strip('"')):
        return None
    more = {key.strip().lower(): inner.strip() for key, _, inner in (one.partition("=") for one in rest)}
    host = url.host.lower()
    domain = more.get("domain", "").lstrip(".").lower()
    if domain and domain != host and not ("." in domain and host.endswith("." + domain)):
        return None
    path = more.get("path", "")
    folder = url.path.rpartition("/")[0] or "/"
    where = path if path.startswith("/") else folder
    site = more.get("samesite", "").capitalize()
    return Cookie(
        name, value, domain or host, where, not domain, "secure" in more, _end(more, now), "httponly" in more,
        site if site in ("Strict", "Lax", "None") else None,
    )  # fmt: skip


def _end(more: dict[str, str], now: Micros) -> Micros | None:
    age = more.get("max-age", "")
    if re.fullmatch(r"-?\d{1,10}", age):
        return now + int(age) * SECOND
    try:
        return from_datetime(parsedate_to_datetime(more["expires"])) if "expires" in more else None
    except (TypeError, ValueError, OverflowError):
        return None
