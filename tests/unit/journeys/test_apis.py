"""OpenAPI documents that journeys refer to are bounded."""

from __future__ import annotations

from pathlib import Path

import pytest

from ostinato.journeys.language.openapi import LARGEST, OpenApiError, catalogue, read_documents
from tests.support.journey_documents import journey

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
    with pytest.raises(OpenApiError, match=words):
        catalogue(document, "x.yaml")


def test_references_of_an_api_document_do_not_go_round_for_ever() -> None:
    parameters = "{parameters: {A: {$ref: '#/components/parameters/B'}, B: {$ref: '#/components/parameters/A'}}}"
    api = catalogue(
        "openapi: 3.1.0\nservers: [{url: 'https://x'}]\npaths: {/a: {get: {operationId: x, parameters: "
        f"[{{$ref: '#/components/parameters/A'}}, {{$ref: 'http://evil/x'}}, 5]}}}}}}\ncomponents: {parameters}",
        "x.yaml",
    )
    assert not any(api.operation("x").required.values())


def test_a_reference_cannot_leave_the_folder_of_its_journey(tmp_path: Path) -> None:
    inside = tmp_path / "journeys"
    (inside / "apis").mkdir(parents=True)
    (inside / "apis" / "users.yaml").write_text("openapi: 3.1.0")
    (tmp_path / "secret.yaml").write_text("openapi: 3.1.0")
    (inside / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    references = {"in": "apis/users.yaml", "out": "../secret.yaml", "link": "link.yaml", "none": "gone.yaml"}
    apis = ", ".join(f"{name}: {{openApiRef: '{one}'}}" for name, one in references.items())
    documents = read_documents(journey("a: {type: succeed}", spec=f"apis: {{{apis}}}"), inside / "x.journey.yaml")
    assert documents == {"apis/users.yaml": "openapi: 3.1.0"}
