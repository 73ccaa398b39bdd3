"""Who may do what: tokens with a role and a namespace, and the namespaces there are.

A token is shown once, when it is made; what is stored is a hash that it can be checked by and not be found from. It is
256 bits of chance, so no slow hash is needed to keep it from being guessed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

import orjson

from ostinato.errors import NotFound, OstinatoError, did_you_mean
from ostinato.store.contract import Operation, Row, sql
from ostinato.when.instants import Micros

PREFIX = "ost_"  # every token begins with it
_TOKEN = re.compile(r"ost_(?P<id>[0-9a-z]{26})_(?P<secret>[A-Za-z0-9_-]{43})")
_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Role(StrEnum):
    """Each may do what those after it may, `agent` apart: an agent acts for one user through tools of its own."""

    ADMIN = "admin"
    OPERATOR = "operator"
    READER = "reader"
    AGENT = "agent"


_RANK = {Role.ADMIN: 3, Role.OPERATOR: 2, Role.READER: 1, Role.AGENT: 0}


def allows(has: Role, needs: Role) -> bool:
    """Whether someone with the one role may do what needs the other."""
    if Role.AGENT in (has, needs):
        return has is needs
    return _RANK[has] >= _RANK[needs]


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """What is known about a token. Without a `namespace` it is good for all of them."""

    id: str
    namespace: str | None
    role: Role
    label: str
    bound: dict[str, str] | None
    created: Micros
    expires: Micros | None
    used: Micros | None
    revoked: Micros | None
    actor: str | None


@dataclass(frozen=True, slots=True)
class NamespaceInfo:
    name: str
    notes: str
    created: Micros
    actor: str | None


def read_role(value: str) -> Role:
    try:
        return Role(value)
    except ValueError:
        hint = did_you_mean(value, list(Role)) or f"there are {', '.join(Role)}"
        raise OstinatoError(f"role {value!r} is unknown; {hint}") from None


def read_namespace(value: str) -> str:
    if not isinstance(value, str) or not _NAMESPACE.fullmatch(value):
        raise OstinatoError(f"namespace {value!r} is not 1 to 63 letters, digits, dots, dashes or underscores")
    return value


def make_token(id: str) -> tuple[str, str]:
    """A new token for an id, and its hash."""
    secret = secrets.token_urlsafe(32)
    return f"{PREFIX}{id}_{secret}", _hash(secret)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def add_token(
    id: str,
    hash: str,
    role: Role,
    namespace: str | None,
    label: str,
    expires: Micros | None,
    now: Micros,
    actor: str | None,
    bound: dict[str, str] | None = None,
) -> Operation[None]:
    told = None if bound is None else orjson.dumps(bound).decode()
    yield sql("add_token", [(id, namespace, role.value, hash, label, told, now, expires, actor)])


def check_token(given: str, now: Micros) -> Operation[TokenInfo | None]:
    """What a token stands for, or None. Whether it is unknown, expired or revoked is nobody's business who has none."""
    match = _TOKEN.fullmatch(given)
    rows = (yield sql("token", id=match["id"])) if match else []
    stored = rows[0][3] if rows else "0" * 64
    same = hmac.compare_digest(stored, _hash(match["secret"] if match else ""))
    if not rows or not same:
        return None
    token = _info(rows[0])
    return token if _good(token, now) else None


def still_good(id: str, now: Micros) -> Operation[bool]:
    """Whether a token that was checked before may still be used."""
    rows = yield sql("token", id=id)
    return bool(rows) and _good(_info(rows[0]), now)


def _good(token: TokenInfo, now: Micros) -> bool:
    return token.revoked is None and (token.expires is None or token.expires > now)


def list_tokens() -> Operation[list[TokenInfo]]:
    return [_info(row) for row in (yield sql("list_tokens"))]


def revoke_token(id: str, now: Micros) -> Operation[bool]:
    """Returns whether that changed anything."""
    if not (yield sql("token", id=id)):
        raise NotFound(f"there is no token {id!r}")
    return bool((yield sql("revoke_token", id=id, now=now)))


def _info(row: Row) -> TokenInfo:
    id, namespace, role, _, label, bound, created, expires, used, revoked, actor = row
    told = None if bound is None else orjson.loads(bound)
    return TokenInfo(id, namespace, Role(role), label, told, created, expires, used, revoked, actor)


def list_namespaces() -> Operation[list[NamespaceInfo]]:
    return [NamespaceInfo(*row) for row in (yield sql("list_namespaces"))]


def add_namespace(name: str, notes: str, now: Micros, actor: str | None) -> Operation[bool]:
    """Returns whether it is new. A new one has no tokens, whatever was left of one by the same name."""
    new = bool((yield sql("add_namespaces", [(name, notes, now, actor)])))
    if new:
        yield sql("drop_tokens_of", namespace=name)
    return new


def drop_namespace(name: str) -> Operation[bool]:
    """Remove one that nothing is left of, and its tokens. Returns whether it went."""
    gone = bool((yield sql("drop_namespace", name=name)))
    if gone:
        yield sql("drop_tokens_of", namespace=name)
    return gone
