"""Keep the cookies of a run in a jar, for the domains that the journey names. The jar is stored in the cache under the
run's id, so that another node can continue the run. It is never part of the context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from ostinato.journeys.language.blocks import Cookies
from ostinato.journeys.language.json_schema import matches
from ostinato.when.instants import SECOND, Micros, from_datetime

MOST = 100  # cookies of a run
LONGEST = 4096  # characters of one `Set-Cookie` line
JAR_TTL_S = 30 * 24 * 3600
API_JAR_TTL_S = 3600  # an API call ends long before that
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

    def matches_url(self, url: httpx.URL, now: Micros) -> bool:
        host = url.host.lower()
        here = host == self.domain or (not self.host_only and host.endswith("." + self.domain))
        path = url.path or "/"
        below = path == self.path or path.startswith(self.path.rstrip("/") + "/")
        return here and below and (url.scheme == "https" or not self.secure) and not self.is_expired(now)

    def is_expired(self, now: Micros) -> bool:
        return self.expires is not None and self.expires <= now

    def set_cookie_line(self, now: Micros) -> str:
        """Return a `Set-Cookie` line for the caller of the journey, without the cookie's own domain and path."""
        age = [] if self.expires is None else [f"Max-Age={max(0, (self.expires - now) // SECOND)}"]
        flags = ["Secure"] * self.secure + ["HttpOnly"] * self.http_only
        site = [] if self.same_site is None else [f"SameSite={self.same_site}"]
        return "; ".join([f"{self.name}={self.value}", "Path=/", *age, *flags, *site])


class CookieJar:
    def __init__(self, cookies: Iterable[Cookie] = ()) -> None:
        self._cookies = {(one.domain, one.path, one.name): one for one in cookies}

    @classmethod
    def from_json(cls, value: Any) -> CookieJar:
        """Create a jar from `value`, the list that `to_json` returns. If `value` is None, the jar is empty."""
        return cls(Cookie(*one) for one in value or ())

    def to_json(self) -> list[list[Any]]:
        fields = Cookie.__slots__
        return [[getattr(one, name) for name in fields] for one in self._cookies.values()]

    def header(self, settings: Cookies, url: httpx.URL, now: Micros) -> str | None:
        if not is_allowed(settings, url.host):
            return None
        cookies = [one for one in self._cookies.values() if one.matches_url(url, now)]
        cookies.sort(key=lambda one: -len(one.path))
        return "; ".join(f"{one.name}={one.value}" for one in cookies) or None

    def take(self, settings: Cookies, url: httpx.URL, set_cookies: Sequence[str], now: Micros) -> list[Cookie]:
        """Store the cookies that a response sets. Remove a cookie if the response sets it with a time of expiry in the
        past. Return all these cookies, both the stored and the expired ones. `set_cookies` are the `Set-Cookie` lines
        of the response. These lines are ignored:

        - all lines, if the host of `url` is not allowed
        - invalid lines, and lines for a domain whose cookies this host may not set
        - lines with a new cookie, if the jar is full
        """
        cookies = [_read_cookie(text, url, now) for text in set_cookies] if is_allowed(settings, url.host) else []
        taken = []
        for cookie in cookies:
            if cookie is None:
                continue
            key = cookie.domain, cookie.path, cookie.name
            self._cookies.pop(key, None)
            if cookie.is_expired(now) or len(self._cookies) < MOST:
                taken.append(cookie)
            if not cookie.is_expired(now) and len(self._cookies) < MOST:
                self._cookies[key] = cookie
        return taken


def cookies_for_caller(settings: Cookies, taken: Iterable[Cookie], now: Micros) -> dict[str, str]:
    """Return the cookies that the caller of the journey gets, as a dict from cookie name to `Set-Cookie` line. `taken`
    are the cookies that a response has set or expired, as `CookieJar.take` returns them. `settings.return_to_client`
    says which of the cookies in `taken` the caller gets. The caller never gets cookies with reserved names
    (`ostinato…`)."""
    rule = settings.return_to_client
    if rule is None or rule.mode == "none":
        return {}
    names, patterns = rule.include.names, rule.include.name_patterns
    return {
        cookie.name: cookie.set_cookie_line(now)
        for cookie in taken
        if not cookie.name.lower().startswith(_OURS)
        and (
            rule.mode == "allFromAllowedDomains"
            or cookie.name in names
            or any(matches(f"^(?:{pattern})$", cookie.name) for pattern in patterns)
        )
    }


def is_allowed(settings: Cookies, host: str) -> bool:
    """Return whether the host matches one of the jar's domains. The domain `example.com` matches only that host. The
    domain `.example.com` matches only the hosts below it, such as `api.example.com`."""
    host = host.lower().removesuffix(".")
    patterns = [one.pattern.lower() for one in settings.jar.domains] if settings.jar else []
    return any(host.endswith(one) if one.startswith(".") else host == one for one in patterns)


def _read_cookie(text: str, url: httpx.URL, now: Micros) -> Cookie | None:
    """Read a `Set-Cookie` line by RFC 6265. Return None if it is invalid, or if this host may not set the cookie."""
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
        name, value, domain or host, where, not domain, "secure" in more, _read_expiry(more, now), "httponly" in more,
        site if site in ("Strict", "Lax", "None") else None,
    )  # fmt: skip


def _read_expiry(more: dict[str, str], now: Micros) -> Micros | None:
    age = more.get("max-age", "")
    if re.fullmatch(r"-?\d{1,10}", age):
        return now + int(age) * SECOND
    try:
        return from_datetime(parsedate_to_datetime(more["expires"])) if "expires" in more else None
    except (TypeError, ValueError, OverflowError):
        return None
