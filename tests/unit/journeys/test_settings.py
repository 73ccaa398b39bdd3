"""The settings of journeys from a file, or from a table of the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from ostinato import OstinatoError
from ostinato.journeys.settings import (
    HttpSettings,
    JourneyLimits,
    JourneySettings,
    JwtProfile,
    MtlsProfile,
    read_settings,
)

TEXT = """
environment = "production"
platform = {base = "https://items.example.com", retries = 3}
trusted_proxies = ["10.1.0.0/16"]
cache_ttl_s = 60
kafka = {"bootstrap.servers" = "kafka.internal:9092"}

[http]
timeout_ms = 5000

[jwt.default]
issuer = "https://login.example.com"
audience = ["orders", "items"]
algorithms = ["RS256"]
jwks_url = "https://login.example.com/keys"

[mtls.default]
revoked_serials = [7]
allow_sans = [["dns", "client.example.com"]]

[limits]
min_interval_s = 5
"""


def test_a_file_is_what_the_code_would_say(tmp_path: Path) -> None:
    file = tmp_path / "journeys.toml"
    file.write_text(TEXT, encoding="utf-8")
    assert read_settings(str(file), "--journey-settings") == JourneySettings(
        environment="production",
        platform={"base": "https://items.example.com", "retries": 3},
        trusted_proxies=("10.1.0.0/16",),
        cache_ttl_s=60,
        kafka={"bootstrap.servers": "kafka.internal:9092"},
        http=HttpSettings(timeout_ms=5000),
        jwt={
            "default": JwtProfile(
                issuer="https://login.example.com",
                audience=("orders", "items"),
                algorithms=("RS256",),
                jwks_url="https://login.example.com/keys",
            )
        },
        mtls={
            "default": MtlsProfile(revoked_serials=frozenset({7}), allow_sans=(("dns", "client.example.com"),)),
        },
        limits=JourneyLimits(min_interval_s=5),
    )


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"enviroment": "x"}, "place: there is no setting 'enviroment'; did you mean 'environment'?"),
        ({"cache_ttl_s": "a day"}, "place: cache_ttl_s 'a day': input should be a valid integer"),
        ({"http": 5}, "place: http: 5 is not a table"),
        ({"http": {"redirect": 1}}, "place: http: there is no setting 'redirect'; did you mean 'redirects'?"),
        ({"jwt": ["x"]}, "place: jwt: \\['x'\\] is not a table of profiles"),
        ({"jwt": {"default": {"algorithms": ["none"]}}}, "place: jwt.default: jwt: the algorithms"),
        ({"trusted_proxies": ["proxy"]}, "place: trusted_proxies: 'proxy' is not an address or network"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(table: dict[str, object], words: str) -> None:
    with pytest.raises(OstinatoError, match=f"^{words}"):
        read_settings(table, "place")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(OstinatoError, match=r"^place: .*nowhere.toml cannot be read"):
        read_settings(str(tmp_path / "nowhere.toml"), "place")
    file = tmp_path / "wrong.toml"
    file.write_text("a = ", encoding="utf-8")
    with pytest.raises(OstinatoError, match=r"^place: .*wrong.toml is not TOML"):
        read_settings(str(file), "place")
