"""Create, check and revoke tokens. Add, list and delete namespaces. Only the hash of a token is stored. A fast hash is
safe, because 256 random bits cannot be guessed."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum

import orjson

from ostinato.engine.tables import NamespaceTables
from ostinato.errors import NotFound, OstinatoError, did_you_mean
from ostinato.store.columns import TOKEN_COLUMNS, reader
from ostinato.store.contract import Operation, sql
from ostinato.when.instants import Micros

PREFIX = "ost_"  # every token begins with it
_TOKEN = re.compile(r"ost_(?P<id>[0-9a-z]{26})_(?P<secret>[A-Za-z0-9_-]{43})")
_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")


class Role(StrEnum):
    """The role of a token. `admin` includes the permissions of `operator`, and `operator` includes those of `reader`. A
    token with the role `agent` acts for one user, and only through the tools that its agent was given."""

    ADMIN = "admin"
    OPERATOR = "operator"
    READER = "reader"
    AGENT = "agent"


_RANK = {Role.ADMIN: 3, Role.OPERATOR: 2, Role.READER: 1, Role.AGENT: 0}


def allows(has: Role, needs: Role) -> bool:
    """Return whether the role `has` includes the permissions of the role `needs`."""
    if Role.AGENT in (has, needs):
        return has is needs
    return _RANK[has] >= _RANK[needs]


@dataclass(frozen=True, slots=True)
class TokenInfo:
    """A token without its secret. A token without a `namespace` is valid in every namespace."""

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
    """Return (the text of a new token with this id, the hash of its secret). The caller stores the hash, and never the
    text."""
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
    bound_text = None if bound is None else orjson.dumps(bound).decode()
    yield sql("add_token", [(id, namespace, role.value, hash, label, bound_text, now, expires, actor)])


def check_token(text: str, now: Micros) -> Operation[TokenInfo | None]:
    """Return the description of the token with this text. Returns None if there is no such token, or if the token has
    expired or was revoked."""
    match = _TOKEN.fullmatch(text)
    rows = (yield sql("token", id=match["id"])) if match else []
    stored, *row = rows[0] if rows else ("0" * 64,)
    same = hmac.compare_digest(stored, _hash(match["secret"] if match else ""))
    if not rows or not same:
        return None
    token = _info(row)
    return token if _good(token, now) else None


def still_good(id: str, now: Micros) -> Operation[bool]:
    """Return whether the token with this id exists, and has neither expired nor been revoked. Call this for a token
    whose text `check_token` has accepted before."""
    rows = yield sql("token", id=id)
    return any(_good(_info(row), now) for _, *row in rows)


def _good(token: TokenInfo, now: Micros) -> bool:
    return token.revoked is None and (token.expires is None or token.expires > now)


def list_tokens() -> Operation[list[TokenInfo]]:
    return [_info(row) for row in (yield sql("list_tokens"))]


def revoke_token(id: str, now: Micros) -> Operation[bool]:
    """Revoke a token. Returns False if it was revoked before. Raises `NotFound` if there is no token with this id."""
    if not (yield sql("token", id=id)):
        raise NotFound(f"there is no token {id!r}")
    return bool((yield sql("revoke_token", id=id, now=now)))


def _read_bound(text: str | None) -> dict[str, str] | None:
    return None if text is None else orjson.loads(text)


_info = reader(TokenInfo, TOKEN_COLUMNS, role=Role, bound=_read_bound)


def list_namespaces() -> Operation[list[NamespaceInfo]]:
    return [NamespaceInfo(*row) for row in (yield sql("list_namespaces"))]


def add_namespace(name: str, notes: str, now: Micros, actor: str | None) -> Operation[bool]:
    """Add a namespace, unless it exists already. Returns whether it was added. If an earlier namespace had this name,
    its tokens are deleted, so that they are not valid in the new namespace."""
    new = bool((yield sql("add_namespaces", [(name, notes, now, actor)])))
    if new:
        yield sql("drop_tokens_of", namespace=name)
    return new


def drop_namespace(name: str, tables: NamespaceTables) -> Operation[list[str]]:
    """Delete a namespace with its rows, and return an empty list. If the namespace has rows that prevent its deletion,
    delete nothing, and return what these rows are called, for example `["runs"]`."""
    left = yield from tables.left(name)
    if not left:
        yield from tables.drop(name)
        yield sql("drop_namespace", name=name)
    return left
