"""Read and write the files that a command is given. Errors name the file."""

from __future__ import annotations

import sys
from pathlib import Path

from ostinato.errors import OstinatoError
from ostinato.faces.cli.output import CommandOutput


def read_text(file: str) -> str:
    """Return the text of a UTF-8 file, or of standard input for `-`. Raises `OstinatoError` if it cannot be read."""
    try:
        content = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        return content.decode("utf-8-sig")
    except OSError as problem:
        raise OstinatoError(f"{file} cannot be read: {problem.strerror}") from None
    except UnicodeDecodeError as problem:
        raise OstinatoError(f"{file} is not UTF-8: {problem.reason} at byte {problem.start}") from None


def write_picture(out: CommandOutput, file: str, picture: str) -> None:
    write_text(file, picture)
    out.say({"file": file, "bytes": len(picture.encode())}, f"wrote {file}")


def write_text(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise OstinatoError(f"{file} cannot be written: {problem.strerror}") from None
