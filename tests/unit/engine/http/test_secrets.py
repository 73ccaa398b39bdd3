"""References become values where they are used, and values never come back."""

from __future__ import annotations

import html
from pathlib import Path
from urllib.parse import quote, quote_plus

import httpx
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.engine.http.secrets import SecretMissing, check_references, is_reference, redact, resolve


def test_references_are_replaced_wherever_they_stand() -> None:
    environ = {"OSTINATO_SECRET_API_TOKEN": "t0k3n", "OSTINATO_SECRET_DB": "pass"}
    value = {"a": "Bearer secret://api-token", "b": ["secret://db", 1, None, {"c": "secret://db/secret://api-token"}]}
    resolved = resolve(value, environ)
    assert resolved.value == {"a": "Bearer t0k3n", "b": ["pass", 1, None, {"c": "pass/t0k3n"}]}
    assert resolved.secrets == {"t0k3n", "pass"}
    assert value["a"] == "Bearer secret://api-token"
    assert "t0k3n" not in repr(resolved)


def test_a_secret_may_be_a_file_without_its_last_line_end(tmp_path: Path) -> None:
    (tmp_path / "api-token").write_bytes(b"from-file\r\n")
    (tmp_path / "two.lines").write_bytes(b"a\nb\n\n")
    environ = {"OSTINATO_SECRETS": str(tmp_path)}
    assert resolve("secret://api-token", environ).value == "from-file"
    assert resolve("secret://two.lines", environ).value == "a\nb\n"
    environ["OSTINATO_SECRET_API_TOKEN"] = "from-environment"
    assert resolve("secret://api-token", environ).value == "from-environment"


def test_a_change_is_seen_at_the_next_use(tmp_path: Path) -> None:
    environ = {"OSTINATO_SECRETS": str(tmp_path)}
    for value in ("old", "new"):
        (tmp_path / "key").write_text(value)
        assert resolve("secret://key", environ).value == value


def test_what_a_secret_says_is_not_looked_into() -> None:
    environ = {"OSTINATO_SECRET_A": "secret://b", "OSTINATO_SECRET_B": "no"}
    assert resolve("secret://a", environ).value == "secret://b"


def test_an_unknown_one_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(SecretMissing, match=r"OSTINATO_SECRET_API_TOKEN.*OSTINATO_SECRETS names no folder"):
        resolve("secret://api-token", {})
    with pytest.raises(SecretMissing, match=f"secret://api-token.*no file 'api-token' in the folder '{tmp_path}'"):
        resolve("secret://api-token", {"OSTINATO_SECRETS": str(tmp_path)})


@pytest.mark.parametrize("name", ["", "../key", "/etc/passwd", ".hidden", "..", "%2e%2e/key", " "])
def test_a_name_cannot_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "key").write_text("outside")
    (folder / ".hidden").write_text("hidden")
    with pytest.raises(SecretMissing, match="names no secret"):
        resolve(f"secret://{name}", {"OSTINATO_SECRETS": str(folder)})
    with pytest.raises(SecretMissing):
        check_references({"a": [f"secret://{name}"]})


@pytest.mark.parametrize("name", ["a/../../key", "a/..", "a\\..\\key"])
def test_what_follows_a_name_is_not_part_of_it(name: str, tmp_path: Path) -> None:
    environ = {"OSTINATO_SECRETS": str(tmp_path), "OSTINATO_SECRET_A": "value"}
    assert resolve(f"secret://{name}", environ).value == "value" + name[1:]


def test_what_cannot_be_read_is_an_error_that_says_so(tmp_path: Path) -> None:
    environ = {"OSTINATO_SECRETS": str(tmp_path), "OSTINATO_SECRET_NOTHING": ""}
    (tmp_path / "folder").mkdir()
    (tmp_path / "large").write_bytes(b"x" * 100_000)
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name, says in {"folder": "cannot be read", "large": "too long", "binary": "UTF-8", "nothing": "empty"}.items():
        with pytest.raises(SecretMissing, match=f"secret://{name}.*{says}"):
            resolve(f"secret://{name}", environ)


def test_a_whole_reference_is_told_from_a_text_with_one() -> None:
    assert is_reference("secret://a-b_c.d")
    assert not any(is_reference(v) for v in ("Bearer secret://a", "secret://a/b", "secret://", "whsec_x", None))


@settings(deadline=None)
@given(
    secret=st.text(st.characters(exclude_characters="[]xyz", exclude_categories=["Cs"]), min_size=7, max_size=40),
    before=st.text("xyz"),
    after=st.text("xyz"),
)
def test_a_secret_is_taken_out_however_it_is_spelled(secret: str, before: str, after: str) -> None:
    in_json = orjson.dumps(secret).decode()[1:-1]
    for text in (secret, quote(secret, safe=""), quote(secret), quote_plus(secret), in_json, html.escape(secret)):
        assert text not in redact(f"{before}{text}{after}", [secret])
    assert redact({"a": [secret]}, [secret]) == {"a": ["[secret]"]}


def test_a_secret_that_is_used_as_a_host_is_taken_out_as_hosts_are_spelled() -> None:
    host = httpx.URL("https://tök3nAAAß/x").raw_host.decode()
    assert host.startswith("xn--")
    assert redact(f"no address found for {host!r}", ["tök3nAAAß"]) == "no address found for '[secret]'"


def test_the_longest_goes_first_and_case_does_not_matter() -> None:
    assert redact("token-long and TOKEN", ["token", "token-long"]) == "[secret] and [secret]"


def test_the_beginning_of_a_secret_at_the_end_of_a_cut_text_goes_too() -> None:
    assert redact("value: hush-hu", ["hush-hush"], cut=True) == "value: "
    assert redact("value: hush-hu", ["hush-hush"]) == "value: hush-hu"
    assert redact("value: hush-hush hus", ["hush-hush"], cut=True) == "value: [secret] "
    assert redact("value: a%2Fb%2", ["a/b/c"], cut=True) == "value: "
    assert redact("value: a\\/b\\", ["a/b/c"], cut=True) == "value: "
    assert redact("host abcdefghijkl", ["AbCdEfGhIjKlMnOp"], cut=True) == "host "
    assert redact("q=a%2fb%2fc%26ddd", ["a/b/c&dddd/eeee"], cut=True) == "q="
    assert redact("x ΟΔΟΣ", ["ΟΔΟΣΣΑΣ"], cut=True) == "x "  # a word's last Σ has a lower case of its own
    assert redact("İ hush-hu", ["hush-hush"], cut=True) == "İ "  # longer in lower case


@settings(deadline=None)
@given(secret=st.text(min_size=1, max_size=40), at=st.integers(min_value=0))
def test_wherever_a_text_is_cut_nothing_of_a_secret_is_left(secret: str, at: int) -> None:
    for text in (secret, quote(secret), quote(secret, safe=""), orjson.dumps(secret).decode()[1:-1]):
        part = text[: 1 + at % len(text)]
        assert redact("\x00" + part, [secret], cut=True) in ("\x00", "\x00[secret]") or "\x00" in secret


def test_without_secrets_nothing_changes() -> None:
    assert redact({"a": [1, "b"]}, []) == {"a": [1, "b"]}
    assert redact("text", ["", "whsec_"]) == "text"
