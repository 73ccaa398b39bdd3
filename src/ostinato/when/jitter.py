"""Add jitter, a delay that is always the same for the same seed and time.

The hash is FarmHash's Fingerprint32 of the same bytes that Temporal hashes (service/worker/scheduler/spec.go). So a
schedule that is moved from Temporal to Ostinato has exactly the same times. A delay always ends before the spec's next
time, so that occurrences stay in order.
"""

from __future__ import annotations

import struct

from ostinato.when.instants import SECOND, Micros

_MASK = 0xFFFFFFFF
_C1 = 0xCC9E2D51
_C2 = 0x1B873593
_YEAR_ONE = 62_135_596_800  # seconds from year 1 to 1970
_MILLI = 1000


def add_jitter(nominal: Micros, seed: str, longest: Micros, following: Micros | None) -> Micros:
    """Return `nominal` plus a delay below `longest`. The result is before `following`, the spec's next time, if any."""
    if following is not None:
        longest = min(longest, following - nominal)
    return nominal + jitter_delay(nominal, seed, longest)


def jitter_delay(nominal: Micros, seed: str, longest: Micros) -> Micros:
    """Return a delay from 0 to less than `longest`, in whole milliseconds."""
    millis = min(longest // _MILLI, _MASK)
    if millis <= 0:
        return 0
    seconds, rest = divmod(nominal, SECOND)
    moment = struct.pack(">bqih", 1, seconds + _YEAR_ONE, rest * 1000, -1)
    return (fingerprint32(moment + seed.encode()) * millis >> 32) * _MILLI


def fingerprint32(data: bytes) -> int:
    """Return FarmHash's Fingerprint32, which is farmhashmk's Hash32."""
    size = len(data)
    if size <= 4:
        return _up_to_4(data)
    if size <= 12:
        return _up_to_12(data)
    if size <= 24:
        return _up_to_24(data)
    words = [_rotate(_word(data, size - back) * _C1, 17) * _C2 & _MASK for back in (4, 8, 16, 12, 20)]
    h, g = size, _C1 * size & _MASK
    f = g
    h = _stir(_stir(h, words[0]), words[2])
    g = _stir(_stir(g, words[1]), words[3])
    f = _rotate(f + words[4], 19) + 113 & _MASK
    for at in range(0, (size - 1) // 20 * 20, 20):
        a, b, c, d, e = struct.unpack_from("<5I", data, at)
        h, g, f = h + a, g + b, f + c
        h = _mur(d, h) + e
        g = _mur(c, g) + a
        f = _mur(b + e * _C1, f) + d
        f = f + g & _MASK
        g = g + f & _MASK
    for turn in (11, 17):
        g = _rotate(g, turn) * _C1 & _MASK
        f = _rotate(f, turn) * _C1 & _MASK
    for part in (g, f):
        h = _rotate(h + part, 19) * 5 + 0xE6546B64 & _MASK
        h = _rotate(h, 17) * _C1 & _MASK
    return h


def _up_to_4(data: bytes) -> int:
    b, c = 0, 9
    for byte in data:
        b = b * _C1 + (byte - 256 if byte > 127 else byte) & _MASK
        c ^= b
    return _mix(_mur(b, _mur(len(data), c)))


def _up_to_12(data: bytes) -> int:
    size = len(data)
    a = size + _word(data, 0)
    b = size * 5 + _word(data, size - 4)
    c = 9 + _word(data, (size >> 1) & 4)
    return _mix(_mur(c, _mur(b, _mur(a, size * 5))))


def _up_to_24(data: bytes) -> int:
    size = len(data)
    a, b = _word(data, (size >> 1) - 4), _word(data, 4)
    c, d = _word(data, size - 8), _word(data, size >> 1)
    e, f = _word(data, 0), _word(data, size - 4)
    h = d * _C1 + size
    a = _rotate(a, 12) + f
    h = _mur(c, h) + a
    a = _rotate(a, 3) + c
    h = _mur(e, h) + a
    a = _rotate(a + f, 12) + d
    return _mix(_mur(b, h) + a)


def _word(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _rotate(value: int, by: int) -> int:
    value &= _MASK
    return (value >> by | value << (32 - by)) & _MASK


def _stir(h: int, word: int) -> int:
    return _rotate(h ^ word, 19) * 5 + 0xE6546B64 & _MASK


def _mur(a: int, h: int) -> int:
    a = _rotate(a * _C1, 17) * _C2 & _MASK
    return _stir(h & _MASK, a)


def _mix(h: int) -> int:
    h &= _MASK
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK
    return h ^ h >> 16
