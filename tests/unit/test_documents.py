"""The reader of YAML and JSON: aliases, merge keys and limits of the usual dialect."""

from __future__ import annotations

from ostinato.documents import DocumentProblem, Place, read_document


def test_an_alias_repeats_the_latest_anchor_before_it() -> None:
    document = read_document("a: &x 1\nb: &y [*x]\nc: &x 2\nd: *y\ne: *x\n*x : 5\n", "x.yaml")
    assert document.value == {"a": 1, "b": [1], "c": 2, "d": [1], "e": 2, "2": 5}
    assert document.positions.place(("d", 0)) == Place(1, 4)
    assert document.positions.place(("2",), key=True) == Place(6, 1)


def test_own_members_come_before_merged_ones_and_the_first_merged_object_wins() -> None:
    text = "x: &x {p: 1, q: 1, r: 1}\ny: &y {q: 2, s: 2}\nz:\n  <<: [*x, *y, {s: 3, t: 3}]\n  p: 0\n"
    document = read_document(text, "x.yaml")
    assert document.value["z"] == {"p": 0, "q": 1, "r": 1, "s": 2, "t": 3}
    assert document.positions.place(("z", "p")) == Place(5, 6)
    assert document.positions.place(("z", "s")) == Place(2, 17)


def test_an_alias_without_an_anchor_and_one_of_itself_end_the_reading() -> None:
    document = read_document("a: 1\nb: *x\n", "x.yaml")
    assert not document.readable
    message = "this is not YAML: found undefined alias 'x'"
    assert document.problems == [DocumentProblem("document-syntax", (), Place(2, 4), message)]
    for text in ("a: &a [*a]", "a: &a {<<: *a}", "a: &a [{<<: *a}]"):
        document = read_document(text, "x.yaml")
        assert [problem.message for problem in document.problems] == ["its aliases or its depth have no end"]
        assert document.value is None


def test_numbers_that_json_does_not_have_are_refused_in_their_places() -> None:
    document = read_document('{"a": [1, NaN],\n "b": -Infinity, "c": ' + "9" * 5000 + "}", "x.json")
    assert [(problem.code, problem.place) for problem in document.problems] == [
        ("document-number", Place(1, 11)),
        ("document-number", Place(2, 7)),
        ("document-number", Place(2, 23)),
    ]
