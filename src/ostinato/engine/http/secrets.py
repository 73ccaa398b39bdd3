"""Replace references such as `secret://name` by secrets just before the secrets are used. Ostinato stores only the
references.

A secret comes from the variable `OSTINATO_SECRET_<NAME>`, or from a file in the folder that `OSTINATO_SECRETS` names.
`redact` removes secrets from what is about to be stored.
"""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from ostinato.errors import OstinatoError, short_repr

SCHEME = "secret://"
FOLDER = "OSTINATO_SECRETS"
VARIABLE = "OSTINATO_SECRET_"
HIDDEN = "[secret]"
_LARGEST = 16 << 10  # bytes of a file; a key or a token is far less
# A name has no slash, and dots only between other characters. So it cannot leave the folder or name a hidden file.
_NAME = r"[A-Za-z0-9_-]{1,128}(?:\.[A-Za-z0-9_-]{1,128}){0,4}"
_REFERENCE = re.compile(rf"{SCHEME}({_NAME})?")


class SecretMissing(OstinatoError):
    """Raised if a reference is malformed, or if its secret does not exist or cannot be read."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """A value in which references were replaced by secrets, and the set of these secrets."""

    value: Any
    secrets: frozenset[str]

    def __repr__(self) -> str:
        return "<resolved>"  # a traceback or a debugger's log must not show it

    def redact(self, text: str) -> str:
        """Return a text with each of the secrets replaced by `[secret]`."""
        redacted: str = redact(text, self.secrets)
        return redacted


def is_reference(value: object) -> bool:
    """Return whether a value consists of exactly one reference."""
    return isinstance(value, str) and re.fullmatch(f"{SCHEME}{_NAME}", value) is not None


def secret_reference(text: str) -> str | None:
    """Return `text` as a valid reference, or None if `text` is not a reference. Each slash in the name becomes a dot:
    `secret://a/b` becomes `secret://a.b`. So the name cannot lead out of the folder of secrets."""
    name = text.removeprefix(SCHEME)
    spelled = SCHEME + name.replace("/", ".")
    return spelled if text.startswith(SCHEME) and is_reference(spelled) else None


def check_references(value: Any) -> None:
    """Raise `SecretMissing` if a reference in a value is malformed. Looks at all texts in the value, at any depth, but
    not at the keys of dicts."""
    _walk(value, lambda _: "")


def resolve(value: Any, environ: Mapping[str, str] | None = None) -> Resolved:
    """Replace the references in all texts of a value, at any depth, but not in the keys of dicts. A reference inside a
    secret is not replaced. Raises `SecretMissing` if a reference is malformed or its secret cannot be read."""
    secrets: dict[str, str] = {}
    environment = os.environ if environ is None else environ

    def read_once(name: str) -> str:
        if name not in secrets:
            secrets[name] = _look_up(name, environment)
        return secrets[name]

    return Resolved(_walk(value, read_once), frozenset(secrets.values()))


def _walk(value: Any, value_of: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: value_of(_named(match, value)), value) if SCHEME in value else value
    if isinstance(value, Mapping):
        return {key: _walk(inner, value_of) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_walk(inner, value_of) for inner in value]
    return value


def _named(match: re.Match[str], text: str) -> str:
    name: str | None = match[1]
    if name is None:
        after = text[match.end() : match.end() + 20]
        raise SecretMissing(
            f"{short_repr(SCHEME + after)} names no secret: a name is letters, digits, '-', '_' and dots between them"
        )
    return name


def _look_up(name: str, environ: Mapping[str, str]) -> str:
    variable = VARIABLE + re.sub(r"[-.]", "_", name).upper()
    value = environ.get(variable)
    folder = environ.get(FOLDER)
    if value is None and folder:
        value = _read(Path(folder, name), name)
    if value is None:
        where = f"no file {name!r} in the folder {folder!r} ({FOLDER})" if folder else f"{FOLDER} names no folder"
        raise SecretMissing(f"{SCHEME}{name} is not known here: the environment has no {variable}, and {where}")
    if not value:
        raise SecretMissing(f"{SCHEME}{name} is empty, which is never meant")
    if any("\ud800" <= character <= "\udfff" for character in value):  # bytes that Python could not read as text
        raise SecretMissing(f"{SCHEME}{name} is not text in UTF-8 ({variable})")
    return value


def _read(path: Path, name: str) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise SecretMissing(f"{SCHEME}{name} cannot be read: {problem.strerror} ({str(path)!r})") from None
    if len(data) > _LARGEST:
        raise SecretMissing(f"{SCHEME}{name} is too long: a secret is at most {_LARGEST:,} bytes ({str(path)!r})")
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise SecretMissing(f"{SCHEME}{name} is not text in UTF-8 ({str(path)!r})") from None


def redact(value: Any, secrets: Iterable[str], *, cut: bool = False) -> Any:
    """Return the value with every secret replaced by `[secret]`, even if the secret is encoded for a URL, JSON or HTML.
    If `cut` is true, the texts in the value were truncated. Then an incomplete secret at the end of a text is removed,
    too."""
    forms = sorted({form for secret in secrets for form in _forms(secret)}, key=len, reverse=True)
    if not forms:
        return value
    pattern = re.compile("|".join(map(_pattern, forms)), re.IGNORECASE)  # a URL's host is lower-cased

    def hide(text: str) -> str:
        end, at, parts = _whole_until(forms, text) if cut else len(text), 0, []
        for match in pattern.finditer(text):
            if match.start() < end:
                parts += [text[at : match.start()], HIDDEN]
                at = match.end()
        return "".join([*parts, text[at:end]])

    return _each_text(value, hide)


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_each_text(key, change): _each_text(inner, change) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_each_text(inner, change) for inner in value]
    return value


_Form: TypeAlias = tuple[tuple[str, ...], ...]  # an encoding of a secret: the possible spellings of each character


def _in_url(character: str) -> tuple[str, ...]:
    # Programs differ in which characters they quote, so every character may be quoted or plain.
    spelled = (quote(character, safe=""), "+", " ") if character == " " else (quote(character, safe=""), character)
    return tuple(dict.fromkeys(spelled))


_SPELLINGS: tuple[Callable[[str], tuple[str, ...]], ...] = (
    _in_url,
    lambda character: (json.dumps(character)[1:-1],),
    lambda character: (json.dumps(character, ensure_ascii=False)[1:-1],),
    lambda character: (json.dumps(character)[1:-1].replace("/", "\\/"),),
    lambda character: (html.escape(character),),
)


_URL_PARTS = re.compile(r"[/?#@:]")


def _forms(secret: str) -> set[_Form]:
    lines = {line for line in secret.splitlines() if len(line) >= 8}  # many programs show one line of their input
    # Programs also show one part of a URL. If a secret is used as the host, its first slash ends the host.
    pieces = {piece for piece in _URL_PARTS.split(secret) if len(piece) >= 5}
    hosts = {host for piece in pieces if (host := _as_host(piece)) is not None}
    parts = {secret, secret.removeprefix("whsec_"), *lines, *pieces, *hosts} - {""}
    return {tuple(map(spelled, part)) for part in parts for spelled in _SPELLINGS}


def _as_host(piece: str) -> str | None:
    """Return how a program shows a text with letters beyond ASCII that is used as a host; None for any other text."""
    if piece.isascii():
        return None
    import idna  # httpx writes hosts with it

    try:
        return idna.encode(piece, uts46=True).decode()
    except idna.IDNAError:
        return None


def _pattern(form: _Form) -> str:
    choices = ("|".join(map(re.escape, spelled)) for spelled in form)
    return "".join(f"(?:{choice})" if "|" in choice else choice for choice in choices)


def _whole_until(forms: Iterable[_Form], text: str) -> int:
    """Find a secret, or the first part of a secret, at the end of the truncated `text`, and return the index at which
    it begins. If `text` ends with neither, return the length of `text`. `forms` has the encodings of the secrets."""
    folded = [tuple(tuple(map(_fold_case, spelled)) for spelled in form) for form in forms]
    longest = max(sum(max(map(len, spelled)) for spelled in form) for form in folded)
    before = max(0, len(text) - longest)
    tail = _fold_case(text[before:])
    ends = [len(text)]
    for form in folded:
        first = {one[0] for one in form[0]}
        starts = (at for at, character in enumerate(tail) if character in first and _begins(form, tail, at))
        ends += [before + at for at in islice(starts, 1)]
    return min(ends)


def _fold_case(text: str) -> str:
    """Return a text in lower case, with the same length. A character is not changed if its lower case has two
    characters."""
    return "".join(lower if len(lower := character.lower()) == 1 else character for character in text)


def _begins(form: _Form, text: str, at: int) -> bool:
    """Return whether the rest of `text`, from index `at` to the end, is the whole secret or its first part. `form`
    describes the secret. It has the possible spellings of each character, such as `%26` and `&` in a URL."""
    places = {at}
    for spelled in form:
        near = [place for place in places if len(text) - place <= 12]  # no character is spelled longer than that
        if any(one.startswith(text[place:]) for place in near for one in spelled):
            return True
        places = {place + len(one) for place in places for one in spelled if text.startswith(one, place)}
        if not places:
            return False
    return len(text) in places
