"""Where a request comes from: the other end of the connection, or, if that is a proxy on the list, what the proxy says.

Nothing is believed because it comes from this machine: anything that runs here, and any proxy here that nobody listed,
could say anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from ostinato.errors import OstinatoError, shown

UNKNOWN = "?"


class Proxies:
    """The proxies whose `X-Forwarded-For` is believed, as addresses and networks."""

    def __init__(self, networks: Sequence[str] = ()) -> None:
        self._networks = [_network(one) for one in networks]

    def client_of(self, peer: str | None, forwarded: Sequence[str]) -> str:
        """The address of the client: the last one in the `X-Forwarded-For` headers that is not a listed proxy's. What
        stands before it was written by the client itself."""
        if not self._networks or not self._lists(peer):
            return peer or UNKNOWN
        named = [part.strip() for header in forwarded for part in header.split(",")]
        return next((one for one in reversed(named) if one and not self._lists(one)), peer or UNKNOWN)

    def _lists(self, address: str | None) -> bool:
        try:
            found = ip_address(address or "")
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None) or found
        return any(mapped in network for network in self._networks)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as problem:
        raise OstinatoError(f"trusted_proxy {shown(text)} is not an address or network: {problem}") from None
