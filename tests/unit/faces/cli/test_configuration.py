"""The settings of `serve`: flags, environment and file in one order, and clear words for what is not right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ostinato import Ostinato
from ostinato.engine.http.egress import EgressPolicy
from ostinato.errors import OstinatoError
from ostinato.faces.cli.configuration import KEYS, Configuration, configuration
from ostinato.faces.cli.serve import wire_place


def toml(folder: Path, text: str) -> str:
    path = folder / "ostinato.toml"
    path.write_text(text)
    return str(path)


def test_a_flag_goes_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    file = toml(tmp_path, 'host = "file"\nport = 1\nlinger = "2s"\nqueue = ["a", "b"]\n')
    environ = {"OSTINATO_HOST": "environment", "OSTINATO_PORT": "2"}
    settings = configuration({"host": "flag", "port": None}, file, environ)
    assert (settings.host, settings.port, settings.linger, settings.queue) == ("flag", 2, 2.0, ("a", "b"))
    assert settings.log_format == "text"
    assert configuration({}, None, {**environ, "OSTINATO_CONFIG": file}).linger == 2.0
    assert configuration({}, None, {}) == Configuration()


def test_every_key_can_be_said_in_all_three_places(tmp_path: Path) -> None:
    words: dict[str, tuple[str, Any]] = {
        "store": ("sqlite:///x.db", "sqlite:///x.db"),
        "app": ("jobs:app", "jobs:app"),
        "host": ("::1", "::1"),
        "port": ("0", 0),
        "allow_host": ("a,b", ("a", "b")),
        "allow_origin": ("https://a", ("https://a",)),
        "trusted_proxy": ("10.0.0.0/8", ("10.0.0.0/8",)),
        "require_token": ("yes", True),
        "temporal": ("127.0.0.1:7233", "127.0.0.1:7233"),
        "tls_certificate": ("c.pem", "c.pem"),
        "tls_key": ("k.pem", "k.pem"),
        "no_engine": ("1", True),
        "linger": ("500ms", 0.5),
        "queue": ("mail", ("mail",)),
        "concurrency": ("7", 7),
        "threads": ("3", 3),
        "lease": ("3s", "3s"),
        "grace": ("1m", "1m"),
        "keep_runs": ("7d", "7d"),
        "keep_events": ("1d", "1d"),
        "egress_allow": ("127.0.0.1,*.corp.example", ("127.0.0.1", "*.corp.example")),
        "egress_allow_private": ("no", False),
        "egress_only": ("a.example", ("a.example",)),
        "egress_deny": ("10.0.0.0/8", ("10.0.0.0/8",)),
        "log_format": ("json", "json"),
        "log_level": ("error", "error"),
    }
    assert set(words) == set(KEYS)
    wanted = Configuration(**{name: value for name, (_, value) in words.items()})
    said = {name: text for name, (text, _) in words.items()}
    assert configuration({}, None, {f"OSTINATO_{name.upper()}": text for name, text in said.items()}) == wanted
    assert configuration(said, None, {}) == wanted
    file = toml(tmp_path, "".join(f'{name} = "{text}"\n' for name, text in said.items()))
    assert configuration({}, file, {}) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prot = 1\n", "there is no setting 'prot'; did you mean 'port'?"),
        ("zzz = 1\n", "there is no setting 'zzz'; there are store, app, host"),
        ("[server]\nport = 1\n", "there is no setting 'server'"),
        ('port = "many"\n', "ostinato.toml: port 'many' is not a number from 0 to 65,535"),
        ("port = true\n", "is not a number"),
        ("host = 5\n", "host 5 is not a text"),
        ('require_token = "perhaps"\n', "is neither true nor false"),
        ("queue = [1]\n", "is not a list of texts"),
        ('log_format = "xml"\n', "is unknown; there are text, json"),
        ('grace = "soon"\n', "soon"),
        ('tls_key = "k.pem"\n', "TLS needs both"),
        ("port = \n", "is not TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(OstinatoError) as raised:
        configuration({}, toml(tmp_path, text), {})
    assert message in str(raised.value)


def test_a_near_miss_in_the_environment_is_refused_and_what_others_put_there_is_not() -> None:
    with pytest.raises(OstinatoError, match="OSTINATO_PROT, which means nothing; did you mean 'OSTINATO_PORT'"):
        configuration({}, None, {"OSTINATO_PROT": "1"})
    with pytest.raises(OstinatoError, match=r"OSTINATO_PORT 'tcp://10.0.0.1:8471' is not a number"):
        configuration({}, None, {"OSTINATO_PORT": "tcp://10.0.0.1:8471"})
    others = ("OSTINATO_SERVICE_HOST", "OSTINATO_PORT_8471_TCP_ADDR", "OSTINATO_TOKEN", "OSTINATO_SECRET_STORE")
    assert configuration({}, None, dict.fromkeys(others, "x")) == Configuration()


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OstinatoError, match=r"nowhere\.toml cannot be read: No such file"):
        configuration({}, str(tmp_path / "nowhere.toml"), {})


def test_what_was_not_said_is_left_to_the_app() -> None:
    assert Configuration().settings == {}
    assert configuration({"queue": ["a"], "grace": "2s"}, None, {}).settings == {"queues": ("a",), "grace": "2s"}


@pytest.mark.parametrize("place", ["nowhere", "127.0.0.1:", ":7233", "127.0.0.1:99999", "127.0.0.1:x"])
def test_where_temporals_clients_are_answered(place: str) -> None:
    with pytest.raises(OstinatoError, match="is not HOST:PORT"):
        wire_place(configuration({"temporal": place}, environ={}))
    listening = wire_place(configuration({"temporal": "[::1]:7233", "require_token": True}, environ={}))
    assert listening is not None
    assert (listening.host, listening.port, listening.loopback, listening.open) == ("::1", 7233, True, False)
    assert wire_place(configuration({}, environ={})) is None


def test_where_requests_may_go_is_the_operators_to_say() -> None:
    assert "egress" not in configuration({}, None, {}).settings
    settings = configuration({"egress_allow": ["127.0.0.1"]}, None, {"OSTINATO_EGRESS_DENY": "evil.example"})
    policy = settings.settings["egress"]
    assert policy == EgressPolicy(allow=("127.0.0.1",), deny=("evil.example",))
    app = Ostinato("sqlite:///:memory:", egress=EgressPolicy(allow_private=True))
    app.configure(egress=policy)
    assert app.webhooks._context.policy is policy
