"""What comes from outside is bounded: documents, answers, values. None of it hangs, fills the memory, or shows a
secret."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from ostinato.journeys.apis import LARGEST, ApiError, catalogue, documents_of
from ostinato.journeys.documents import read_document
from ostinato.journeys.language import read
from ostinato.journeys.tasks import standard_kinds
from ostinato.journeys.tasks.http_call import HttpCall
from tests.service import Reply, Service
from tests.unit.journeys.examples import journey, text
from tests.unit.journeys.tasks.calling import call_of, context, definition

BOMB = "openapi: 3.1.0\nx0: &x0 [1, 2]\n" + "".join(
    f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 10)}]\n" for n in range(1, 10)
)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("x" * (LARGEST + 1), "characters"),
        (BOMB, "leave the name out"),
        ("openapi: 3.1.0\na: " + "[" * 300 + "]" * 300, "too deeply"),
        ("openapi: 3.1.0\na: " + "[" * 100_000, "too deeply"),
        ("openapi: 2.0", "not an OpenAPI document"),
        ("[]", "not an OpenAPI document"),
        ("{", "not JSON"),
        ("a: [", "not YAML"),
    ],
    ids=["long", "aliases", "deep", "deepest", "old", "list", "broken", "broken too"],
)
def test_an_api_document_is_bounded(document: str, words: str) -> None:
    with pytest.raises(ApiError, match=words):
        catalogue(document, "x.yaml")


def test_references_of_an_api_document_do_not_go_round_for_ever() -> None:
    parameters = "{parameters: {A: {$ref: '#/components/parameters/B'}, B: {$ref: '#/components/parameters/A'}}}"
    found = catalogue(
        "openapi: 3.1.0\nservers: [{url: 'https://x'}]\npaths: {/a: {get: {operationId: x, parameters: "
        f"[{{$ref: '#/components/parameters/A'}}, {{$ref: 'http://evil/x'}}, 5]}}}}}}\ncomponents: {parameters}",
        "x.yaml",
    )
    assert not any(found.operation("x").required.values())


def test_a_reference_cannot_leave_the_folder_of_its_journey(tmp_path: Path) -> None:
    inside = tmp_path / "journeys"
    (inside / "apis").mkdir(parents=True)
    (inside / "apis" / "users.yaml").write_text("openapi: 3.1.0")
    (tmp_path / "secret.yaml").write_text("openapi: 3.1.0")
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    references = {"in": "apis/users.yaml", "out": "../secret.yaml", "link": "link.yaml", "none": "gone.yaml"}
    apis = ", ".join(f"{name}: {{openApiRef: '{one}'}}" for name, one in references.items())
    found = documents_of(journey("a: {type: succeed}", spec=f"apis: {{{apis}}}"), inside / "x.journey.yaml")
    assert found == {"apis/users.yaml": "openapi: 3.1.0"}


def test_an_answer_too_deep_to_be_kept_stays_text() -> None:
    deep = "[" * 5_000 + "]" * 5_000
    with Service(Reply(200, deep.encode(), {"Content-Type": "application/json"})) as service:
        settings = {"method": "GET", "url": service.url, "resultVar": "r"}
        assert context(HttpCall(), call_of(settings))["r"]["body"] == deep


@pytest.mark.parametrize("value", ["x" * 1_000_000, "[" * 60 + "]" * 60, "{a: " * 60 + "1" + "}" * 60])
def test_settings_of_any_size_and_depth_are_checked_in_bounded_time(value: str) -> None:
    document = read_document(text(f"a: {{type: task, task: {{kind: httpCall:v1, body: {value}}}, next: b}}"))
    found, problems = read(document)
    if found is None:
        assert problems
        return
    for kind in standard_kinds():
        settings = {"body": json.loads(json.dumps(found.spec.states["a"].settings))}  # type: ignore[union-attr]
        assert list(kind.check(settings, found))


def test_nothing_is_logged_of_a_call(caplog: pytest.LogCaptureFixture) -> None:
    spec = "policies: {httpClientAuth: {definitions: {b: {kind: bearerStatic, tokenRef: 'secret://t'}}}}"
    with caplog.at_level(logging.DEBUG), Service(Reply(500, b"no")) as service:
        settings = {"method": "GET", "url": service.url, "resultVar": "r", "auth": {"policyRef": "b"}}
        context(HttpCall(), call_of(settings, of=definition(spec), secrets={"t": "the-token-of-the-call"}))
        assert service.received[0].headers["authorization"] == "Bearer the-token-of-the-call"
    assert "the-token-of-the-call" not in caplog.text
