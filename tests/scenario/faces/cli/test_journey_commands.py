"""`ostinato journeys …`, on a store and on a server."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.commands import Place
from tests.support.http_journeys import ASKING, REPEATING

EXAMPLES = Path(__file__).parents[4] / "examples"


def write(folder: Path, text: str, name: str = "asking") -> str:
    path = folder / f"{name}.journey.yaml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_journey_is_deployed_started_answered_and_drawn(place: Place, tmp_path: Path) -> None:
    file = write(tmp_path, ASKING)
    assert place.text("journeys", "deploy", file).strip() == "asking 0.1.0"
    assert place.json("journeys", "deploy", file)["items"][0]["new"] is False
    started = place.json("journeys", "start", "asking", "--input", '{"customer": "ada"}', "--header", "X-Channel: shop")
    id = started["journeyId"]
    assert (started["currentState"], started["attributes"]) == ("ask", {"subjectId": "ada"})
    # Nobody works on this store, so that nothing would come of waiting: it is answered at once.
    page = place.text("journeys", "status", id)
    assert ("waits for" in page, "ask" in page, "running" in page) == (True, True, True)
    assert place.json("journeys", "list", "--subject", "ada")["items"][0]["journeyId"] == id
    assert "is not over" in place.error("journeys", "result", id, code=1)
    assert "ok" in place.error("journeys", "step", id, "ask", "--input", '{"ok": "yes"}', code=2)
    assert "does not wait" in place.error("journeys", "step", id, "other", code=1)
    for what, marked in ((file, False), ("asking", False), (id, True)):
        picture = tmp_path / "picture.svg"
        place.run("journeys", "draw", what, "-o", str(picture))
        assert ('class="state wait current' in picture.read_text(encoding="utf-8")) == marked
    assert place.json("journeys", "cancel", id)["phase"] == "FAILED"
    assert place.json("journeys", "result", id)["error"]["code"] == "JOURNEY_CANCELLED"
    assert "asking" in place.error("journeys", "start", "askin", code=1)
    assert "'Name: value'" in place.error("journeys", "start", "asking", "--header", "x", code=2)


def test_what_journeys_have_scheduled_is_listed(place: Place, tmp_path: Path) -> None:
    place.run("journeys", "deploy", write(tmp_path, REPEATING, "repeating"))
    assert place.text("journeys", "bindings", "--name", "repeating").strip() == "no bindings"
    assert place.json("journeys", "bindings", "--subject", "ada") == {"items": []}
    assert "there is no binding" in place.error("journeys", "bindings", "--cancel", "nothing", code=1)


def test_everything_that_is_wrong_is_said_at_once_and_no_store_is_needed(tmp_path: Path) -> None:
    nowhere = Place({"OSTINATO_STORE": f"sqlite:///{tmp_path}/none.db", "OSTINATO_SERVER": None}, "store")
    assert "0 errors, 0 warnings" in nowhere.text("journeys", "check", str(EXAMPLES))
    good = write(tmp_path, ASKING, "good")
    bad = write(tmp_path, ASKING.replace("next: judge", "next: jugde").replace("default: ask", "default: aks"), "bad")
    said = nowhere.text("journeys", "check", str(tmp_path), code=2).splitlines()
    errors = [line for line in said if " error " in line]
    assert [line.split(":")[0] for line in errors] == [bad, bad]
    assert all("graph-target" in line and "Did you mean" in line for line in errors)
    line = next(n for n, text in enumerate(Path(bad).read_text(encoding="utf-8").splitlines(), 1) if "jugde" in text)
    assert errors[0].startswith(f"{bad}:{line}:")
    broken = ASKING.replace("next: judge", "next: jugde").replace("type: choice", "tpye: choice")
    worse = write(tmp_path, broken, "worse")
    data = nowhere.json("journeys", "check", good, bad, worse, code=2)
    codes = [[one["code"] for one in file["problems"] if one["severity"] == "error"] for file in data["items"]]
    assert codes == [[], ["graph-target", "graph-target"], ["graph-target", "shape-missing"]]
    assert "cannot be read" in nowhere.error("journeys", "check", str(tmp_path / "none.journey.yaml"), code=2)
    assert "not YAML" in nowhere.text("journeys", "check", write(tmp_path, "{", "broken"), code=2)
    assert not (tmp_path / "none.db").exists()


def test_a_start_or_a_step_that_no_node_serves_says_so(place: Place, tmp_path: Path) -> None:
    place.run("journeys", "deploy", write(tmp_path, ASKING))
    note = "it has to wait: no node is running on this store; start one"
    start = ("journeys", "start", "asking", "--input", '{"customer": "ada"}')
    id = place.json(*start)["journeyId"]
    assert note not in place.run(*start).stderr  # it waits for its step
    answer = place.run("journeys", "step", id, "ask", "--input", '{"ok": true}', "--json")
    assert json.loads(answer.stdout)["_note"].startswith(note)
    assert f"note: {note}" in answer.stderr


def test_a_wrong_input_is_reported_with_its_place(place: Place, tmp_path: Path) -> None:
    strict = ASKING.replace("properties: {a:", "required: [a]\n      properties: {a:")
    place.run("journeys", "deploy", write(tmp_path, strict))
    start = ("journeys", "start", "asking")
    assert place.error(*start, code=2).strip() == 'error: --input: "a" is a required property'
    wrong = place.error(*start, "--input", '{"a": "x"}', code=2).strip()
    assert wrong == """error: --input, a 'x': "x" is not of type "integer\""""
    id = place.json(*start, "--input", '{"a": 1}')["journeyId"]
    step = ("journeys", "step", id, "ask", "--input")
    assert place.error(*step, "{}", code=2).strip() == 'error: --input: "ok" is a required property'
    assert place.error(*step, "5", code=2).strip() == 'error: --input 5: 5 is not of type "object"'
