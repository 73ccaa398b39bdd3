"""Definitions of journeys in files, for commands that need no store: found, checked, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.journeys.apis import documents_of
from ostinato.journeys.documents import SUFFIXES, read_document
from ostinato.journeys.drawing import draw
from ostinato.journeys.language import draft, read
from ostinato.journeys.library import Invalid, problems_of
from ostinato.journeys.standard import standard_plugins


@dataclass(frozen=True, slots=True)
class Written:
    """A definition as it is written, with the documents it refers to."""

    file: str
    text: str
    documents: dict[str, str]


def is_file(what: str) -> bool:
    return what.endswith(SUFFIXES) or Path(what).is_file()


def read_files(paths: Sequence[str]) -> list[Written]:
    """Every definition that is meant. What cannot be read as one is sent as it is: it is refused with every reason."""
    return [_written(file) for path in paths for file in _files(Path(path))]


def check_files(paths: Sequence[str]) -> list[Json]:
    """Each file with everything that is to be said about it."""
    plugins = standard_plugins()
    try:
        return [
            {
                "file": one.file,
                "problems": [
                    {"file": one.file, **problem.as_dict()}
                    for problem in problems_of(one.text, one.file, plugins, one.documents)
                ],
            }
            for one in read_files(paths)
        ]
    finally:
        for language in plugins.languages.values():
            language.close()


def draw_file(path: str) -> str:
    one = _written(Path(path))
    definition, problems = read(read_document(one.text, one.file))
    if definition is None:
        raise Invalid(one.file, problems)
    return draw(definition)


def write_file(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OstinatoError(f"{file} cannot be written: {problem.strerror}") from None


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(one for one in path.rglob("*") if one.name.endswith(SUFFIXES))
        if not found:
            raise OstinatoError(f"{path}: there is no file *{SUFFIXES[0]} in this folder")
        return found
    return [path]


def _written(path: Path) -> Written:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as problem:
        raise OstinatoError(f"{path}: it cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise OstinatoError(f"{path}: it is not UTF-8: {problem.reason} at byte {problem.start}") from None
    definition = draft(read_document(text, str(path))).definition
    return Written(str(path), text, {} if definition is None else documents_of(definition, path))
