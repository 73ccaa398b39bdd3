"""Check what a new schedule or campaign will send, and to which users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ostinato.errors import InputError, NotFound, did_you_mean, is_text, short_repr
from ostinato.flows.campaigns.agent_settings import check_cap
from ostinato.flows.campaigns.options import CampaignOptions
from ostinato.flows.definition import Agent, check_arguments
from ostinato.flows.errors import DefinitionError, VariantInputError
from ostinato.flows.model import CLASSIC
from ostinato.flows.segments import Segment


def check_flow(agent: str, flow: str | None, declared: Mapping[str, Any]) -> None:
    """Raise `NotFound` if the agent has no such flow. None and `classic` are always accepted."""
    if flow is not None and flow != CLASSIC and flow not in declared["flows"]:
        hint = did_you_mean(flow, declared["flows"]) or f"there is {', '.join(declared['flows']) or 'none'}"
        raise NotFound(f"agent {agent!r} has no flow {flow!r}; {hint}")


def check_content(
    agent: str,
    declared: Mapping[str, Any],
    code: Agent | None,
    flow: str | None,
    input: Mapping[str, Any] | None,
    metadata: Mapping[str, Any],
    options: CampaignOptions | None = None,
) -> None:
    """Check the content of the turns that a schedule or campaign will start. `options` are the options of a campaign,
    or None for a schedule. If a campaign has variants, the content of each variant is checked.

    Raises:

    - `NotFound` if the agent has no such flow
    - `InputError` if the flow does not accept the input; this is checked only if this process has the flow
    - `DefinitionError` if there is no flow, and the agent cannot write a message without one
    - `OstinatoError` if the period of the frequency cap is longer than the agent keeps campaigns
    """
    if options is not None:
        check_cap(options, declared.get("keep"), "options")
    input = input or {}
    variants = options.variants if options is not None else ()
    if not variants:
        _check_turn(agent, declared, code, flow, input, metadata)
    for variant in variants:
        arguments = {**input, **(variant.input or {})}
        try:
            _check_turn(agent, declared, code, variant.flow or flow, arguments, metadata)
        except InputError as problem:
            shared = set(input) - set(variant.input or {})  # arguments that come from the campaign's input
            place = ("options", "variants", variant.name, "input")
            places = [(*(("input",) if path and path[0] in shared else place), *path) for path, _ in problem.faults]
            if all(path[0] == "input" for path in places):
                raise
            raise VariantInputError(f"{'.'.join(place)}: {problem}", problem.faults, places) from None


def _check_turn(
    agent: str,
    declared: Mapping[str, Any],
    code: Agent | None,
    flow: str | None,
    input: Mapping[str, Any],
    metadata: Mapping[str, Any],
) -> None:
    check_flow(agent, flow, declared)
    if flow is None or flow == CLASSIC:
        _check_answerable(agent, declared, metadata)
    elif code is not None and flow in code.flows:
        code.find_flow(flow).check(dict(input))


def _check_answerable(agent: str, declared: Mapping[str, Any], metadata: Mapping[str, Any]) -> None:
    """Check that an agent can write a message without a flow. Raises `DefinitionError` in three cases:

    - `metadata["prompt"]` is not a text.
    - The agent has no model.
    - There is no prompt, neither in `metadata` nor in the agent's declaration.

    If the agent has a hook `before_llm`, only the first case is checked, because the hook may write the message.
    """
    prompt = metadata.get("prompt")
    if prompt is not None and not is_text(prompt):
        raise _wrong(("metadata", "prompt"), f"metadata['prompt'] {short_repr(prompt)} is not a text for the model")
    writes = declared.get("writes")
    if writes is None or writes["hook"]:  # a node of an older version has declared it, or a hook decides
        return
    flows = ", ".join(map(repr, declared["flows"])) or "which has none yet"
    if not writes["model"]:
        raise _wrong(
            ("flow",),
            f"there is no flow, and agent {agent!r} has no model that could write the message; name a flow of the "
            f"agent ({flows}), or declare the agent with model=…",
        )
    if prompt is None and not writes["prompt"]:
        raise _wrong(
            ("metadata",),
            f"there is neither a flow nor a prompt, so the model of agent {agent!r} would not know what to write; give "
            f"metadata={{'prompt': '…'}}, or name a flow of the agent ({flows})",
        )


def _wrong(path: tuple[str, ...], words: str) -> DefinitionError:
    return DefinitionError(words, (path, words))


def check_resolver(
    agent: str, declared: Mapping[str, Any], code: Agent | None, segment: Segment, place: tuple[str, ...]
) -> None:
    """Check the segment's resolver, the function of the agent that returns the segment's users.

    Raises `NotFound` if the agent lacks the resolver, and `DefinitionError` if the resolver does not accept the
    segment's `params`. `place` is the path of the segment in the definition.
    """
    if segment.resolver is None:
        return
    names = declared.get("segments") or []
    if segment.resolver not in names:
        hint = did_you_mean(segment.resolver, names) or f"there is {', '.join(names) or 'none'}"
        raise NotFound(f"agent {agent!r} has no segment {segment.resolver!r}; {hint}")
    if code is not None:
        try:
            check_arguments(code.segments[segment.resolver].arguments, segment.params, f"segment {segment.resolver!r}")
        except InputError as problem:
            # an InputError would mean the input of the flow
            faults = [((*place, "params", *path), words) for path, words in problem.faults]
            raise DefinitionError(str(problem), *faults) from None
