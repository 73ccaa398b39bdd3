"""Classify IP addresses as public, private, or never to be called.

The tables follow IANA's registries of special-purpose addresses. The smallest network in the tables that contains an
address decides its kind. Python's `is_private` and `is_global` are not used, because they differ between releases.
"""

from __future__ import annotations

from enum import StrEnum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network


class AddressKind(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    METADATA = "cloud metadata"
    MULTICAST = "multicast"
    UNSPECIFIED = "unspecified"
    RESERVED = "reserved"


NEGOTIABLE = frozenset(
    {AddressKind.PRIVATE, AddressKind.LOOPBACK}
)  # a policy may allow these; public ones need no permission

_NETWORKS = {
    AddressKind.PUBLIC: "0.0.0.0/0 2000::/3",
    AddressKind.LOOPBACK: "127.0.0.0/8 ::1/128",
    # RFC 1918, carrier-grade NAT, benchmarking (in use inside some networks); unique and site local.
    AddressKind.PRIVATE: "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 100.64.0.0/10 198.18.0.0/15 fc00::/7 fec0::/10",
    AddressKind.LINK_LOCAL: "169.254.0.0/16 fe80::/10",
    # Not all are link-local: Alibaba, Azure and Oracle have others, and AWS, Google, Oracle and Scaleway in IPv6.
    AddressKind.METADATA: "169.254.169.254/32 169.254.170.2/32 169.254.170.23/32 100.100.100.200/32 168.63.129.16/32"
    " 192.0.0.192/32 fd00:ec2::/32 fd20:ce::254/128 fd00:c1::a9fe:a9fe/128 fd00:42::42/128",
    AddressKind.MULTICAST: "224.0.0.0/4 ff00::/8",
    AddressKind.UNSPECIFIED: "0.0.0.0/8 ::/128",
    # 64:ff9b:1::/48 is translated by local rules: which address it leads to cannot be known from outside.
    AddressKind.RESERVED: "192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4"
    " ::/0 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 3fff::/20 5f00::/16",
}
_BY_LENGTH: list[tuple[Network, AddressKind]] = sorted(
    ((ip_network(text), kind) for kind, texts in _NETWORKS.items() for text in texts.split()),
    key=lambda pair: -pair[0].prefixlen,
)

# The last 32 bits of these are an IPv4 address: compatible, mapped, translated, and NAT64.
_LAST_BITS = [IPv6Network(text) for text in ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")]
_ITSELF = frozenset({IPv6Address("::"), IPv6Address("::1")})


def kind_of(address: Address) -> AddressKind:
    """Return the kind of `address` itself, such as `AddressKind.PRIVATE`. If another address is embedded in `address`,
    as in NAT64, the kind of that other address does not matter here."""
    return next(kind for network, kind in _BY_LENGTH if address in network)


def meant(address: Address) -> tuple[Address, ...]:
    """Return the addresses that a packet for `address` finally reaches. Some addresses have other addresses embedded,
    as in 6to4, Teredo and NAT64. For such an address, return the embedded addresses. For any other address, return only
    `address`."""
    if isinstance(address, IPv4Address) or address in _ITSELF:
        return (address,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    if any(address in network for network in _LAST_BITS):
        return (IPv4Address(int(address) & 0xFFFF_FFFF),)
    return (address,)
