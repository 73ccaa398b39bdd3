"""Find, check and draw journey definitions in files, without a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ostinato.client import Json
from ostinato.errors import OstinatoError
from ostinato.faces.cli.files import read_text
from ostinato.journeys.definitions import InvalidDefinition, find_problems
from ostinato.journeys.documents import SUFFIXES, read_document
from ostinato.journeys.drawing import draw
from ostinato.journeys.language import draft, read
from ostinato.journeys.language.openapi import read_documents
from ostinato.journeys.tasks.standard import standard_plugins


@dataclass(frozen=True, slots=True)
class Written:
    """A journey definition that was read from `file`. The definition may refer to other files. `documents` is a dict
    from each such reference to the text of the other file."""

    file: str
    text: str
    documents: dict[str, str]


def is_file(what: str) -> bool:
    return what.endswith(SUFFIXES) or Path(what).is_file()


def read_files(paths: Sequence[str]) -> list[Written]:
    """Read every definition in files and folders, without checking it. `check_files` and the server check
    definitions."""
    return [_read_file(file) for path in paths for file in _files(Path(path))]


def check_files(paths: Sequence[str]) -> list[Json]:
    """Check every definition in files and folders. Return a dict with `file` and `problems` for each file."""
    plugins = standard_plugins()
    try:
        return [
            {
                "file": file.file,
                "problems": [
                    {"file": file.file, **problem.as_dict()}
                    for problem in find_problems(file.text, file.file, plugins, file.documents)
                ],
            }
            for file in read_files(paths)
        ]
    finally:
        for language in plugins.languages.values():
            language.close()


def draw_file(path: str) -> str:
    file = _read_file(Path(path))
    definition, problems = read(read_document(file.text, file.file))
    if definition is None:
        raise InvalidDefinition(file.file, problems)
    return draw(definition)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.name.endswith(SUFFIXES))
        if not files:
            raise OstinatoError(f"{path}: there is no file *{SUFFIXES[0]} in this folder")
        return files
    return [path]


def _read_file(path: Path) -> Written:
    text = read_text(str(path))
    definition = draft(read_document(text, str(path))).definition
    return Written(str(path), text, {} if definition is None else read_documents(definition, path))
