"""What an address is, and which host it belongs to."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ostinato.engine.http.addresses import NEGOTIABLE, AddressKind, kind_of, meant
from ostinato.engine.http.egress import EgressPolicy, EgressRefused

v4 = st.ip_addresses(v=4).filter(lambda a: isinstance(a, IPv4Address))
LOWEST = {"mapped": 0xFFFF << 32, "compatible": 0, "translated": 0xFFFF << 48, "nat64": 0x64FF9B << 96}


@pytest.mark.parametrize(
    ("kind", "addresses"),
    [
        (AddressKind.PUBLIC, "1.1.1.1 9.255.255.255 11.0.0.0 172.15.255.255 172.32.0.0 100.63.255.255 2606:4700::1111"),
        (
            AddressKind.PRIVATE,
            "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.255 fd12::1 fec0::1",
        ),
        (AddressKind.LOOPBACK, "127.0.0.1 127.255.255.254 ::1"),
        (AddressKind.LINK_LOCAL, "169.254.0.1 fe80::1 fe80::1%eth0 febf::1"),
        (AddressKind.METADATA, "169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254"),
        (AddressKind.METADATA, "fd20:ce::254 fd00:c1::a9fe:a9fe"),
        (AddressKind.MULTICAST, "224.0.0.1 239.255.255.255 ff02::1"),
        (AddressKind.UNSPECIFIED, "0.0.0.0 0.1.2.3 ::"),
        (
            AddressKind.RESERVED,
            "240.0.0.1 255.255.255.255 192.0.2.1 203.0.113.9 2001:db8::1 64:ff9b:1::1 4000::1 100::1",
        ),
    ],
)
def test_an_address_is_of_the_kind_of_the_longest_network_that_holds_it(kind: AddressKind, addresses: str) -> None:
    assert {text: kind_of(ip_address(text)) for text in addresses.split()} == dict.fromkeys(addresses.split(), kind)


@settings(deadline=None)
@given(v4)
def test_an_embedded_address_is_judged_as_what_it_embeds(address: IPv4Address) -> None:
    number = int(address)
    for name, base in LOWEST.items():
        wrapped = IPv6Address(base | number)
        if name != "compatible" or number > 1:
            assert meant(wrapped) == (address,), name
    assert meant(IPv6Address(0x2002 << 112 | number << 80)) == (address,)
    teredo = IPv6Address(0x20010000 << 96 | int(IPv4Address("65.54.227.120")) << 64 | (number ^ 0xFFFF_FFFF))
    assert address in meant(teredo)


@settings(deadline=None)
@given(st.ip_addresses())
def test_what_is_called_public_is_public_to_python_too(address: IPv4Address | IPv6Address) -> None:
    for end in meant(address):
        if kind_of(end) is AddressKind.PUBLIC:
            special = ("private", "loopback", "link_local", "multicast", "reserved", "unspecified")
            assert [name for name in special if getattr(end, f"is_{name}")] == []


@settings(deadline=None)
@given(st.ip_addresses())
def test_no_policy_lets_go_what_is_never_called(address: IPv4Address | IPv6Address) -> None:
    lavish = EgressPolicy(allow_private=True, allow=("0.0.0.0/0", "::/0", "anywhere.example"))
    kinds = {kind_of(end) for end in meant(address)}
    if kinds <= NEGOTIABLE | {AddressKind.PUBLIC}:
        lavish.check("anywhere.example", [str(address)])
    else:
        with pytest.raises(EgressRefused, match="no setting allows it"):
            lavish.check("anywhere.example", [str(address)])
