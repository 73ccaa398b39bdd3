"""Find the address of a client.

If the peer of the connection is a listed proxy, the proxy's headers name the client. Otherwise the peer is the client.
Proxies on this machine must be listed, too, because any local process can send such headers.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from ostinato.errors import OstinatoError, short_repr

UNKNOWN = "?"


class Proxies:
    """The proxies whose `X-Forwarded-For` is trusted, as addresses and networks."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        self._networks = [_network(one) for one in networks]

    def client_of(self, peer: str | None, forwarded: Sequence[str]) -> str:
        """Return the address of the client, or "?" if it is unknown. If `peer` is not a listed proxy, `peer` is the
        client. Otherwise the client is the last address in `X-Forwarded-For` that is not a listed proxy, or `peer` if
        there is none. The client may have written the earlier addresses itself, so they are not trusted."""
        if not self._networks or not self._lists(peer):
            return peer or UNKNOWN
        named = [part.strip() for header in forwarded for part in header.split(",")]
        return next((one for one in reversed(named) if one and not self._lists(one)), peer or UNKNOWN)

    def _lists(self, address: str | None) -> bool:
        try:
            ip = ip_address(address or "")
        except ValueError:
            return False
        mapped = getattr(ip, "ipv4_mapped", None) or ip
        return any(mapped in network for network in self._networks)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as problem:
        raise OstinatoError(f"trusted_proxy {short_repr(text)} is not an address or network: {problem}") from None
