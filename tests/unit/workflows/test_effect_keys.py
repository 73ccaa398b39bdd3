"""Which calls of a mutator are the same effect."""

from __future__ import annotations

from ostinato.workflows.decisions.effect_keys import EarlierCall, effect_key, key_of_call

FIRST = effect_key("w", "send", ["a", "b"])


def test_the_key_depends_on_the_workflow_the_mutator_and_the_events() -> None:
    assert effect_key("w", "send", ["b", "a"]) == FIRST
    others = [effect_key("v", "send", ["a", "b"]), effect_key("w", "ask", ["a", "b"]), effect_key("w", "send", ["a"])]
    assert len({FIRST, *others}) == 4


def test_the_key_stays_unless_a_refused_request_is_changed() -> None:
    assert key_of_call(FIRST, {"n": 1}, []) == FIRST
    failed, refused = EarlierCall(FIRST, {"n": 1}, False), EarlierCall(FIRST, {"n": 1}, True)
    assert key_of_call(FIRST, {"n": 2}, [failed]) == FIRST
    assert key_of_call(FIRST, {"n": 1}, [refused]) == FIRST
    second = key_of_call(FIRST, {"n": 2}, [failed, refused])
    assert second == f"{FIRST}-2"
    assert key_of_call(FIRST, {"n": 2}, [refused, EarlierCall(second, {"n": 2}, False)]) == second
    assert key_of_call(FIRST, {"n": 3}, [refused, EarlierCall(second, {"n": 2}, True)]) == f"{FIRST}-3"


def test_calls_for_other_events_do_not_count() -> None:
    other = EarlierCall(effect_key("w", "send", ["a"]), {}, False)
    assert key_of_call(FIRST, {}, [other]) == FIRST
