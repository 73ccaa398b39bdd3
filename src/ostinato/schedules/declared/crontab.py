"""Read a crontab as schedules. Each line becomes a schedule that starts a job with the command line as its input. Users
provide that job. Lines and settings that cannot be translated are reported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from ostinato.documents import Place
from ostinato.errors import SpecError
from ostinato.schedules.declared.problems import FileError, FileProblem
from ostinato.when import cron

JOB = "shell"
_ENVIRONMENT = re.compile(r"""\s*(?P<quote>["']?)(?P<name>[A-Za-z_]\w*)(?P=quote)\s*=\s*(?P<value>.*?)\s*""")
_PARTS = re.compile(r"\S+")
_UNESCAPED_PERCENT = re.compile(r"(?<!\\)%")
_OPERATOR = re.compile(r"[|<>;&]|\d>")
_ABOUT_MAIL = ("MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING")
_NAME = 48


@dataclass(frozen=True, slots=True)
class Line:
    """One line with a command: its spec, and the input of the job."""

    number: int
    spec: Mapping[str, Any]
    input: Mapping[str, Any]

    @property
    def command(self) -> str:
        return str(self.input["command"])


@dataclass(slots=True)
class Crontab:
    """The contents of a crontab. `left_out` has the lines that cannot become schedules. `notes` are remarks about
    settings that Ostinato treats differently from cron."""

    lines: list[Line] = field(default_factory=list)
    left_out: list[FileProblem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def entries(self, job: str = JOB, jobs: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
        """Return the entries of a file of schedules, as a dict by name. Each line becomes an entry. As with cron, runs
        may overlap, and late times get no run.

        `jobs` maps patterns for commands, such as `"*backup*"`, to names of jobs. A line gets the job of the first
        pattern that matches its command. If no pattern matches, the line gets the job `job`.
        """
        return {
            name: {
                "spec": dict(line.spec),
                "action": {"job": _job_of(line.command, jobs or {}, job), "input": dict(line.input)},
                "overlap": "allow_all",
                "catchup": "skip",
            }
            for name, line in _named(self.lines)
        }


def read_crontab(text: str, file: str = "crontab", *, system: bool = False, tz: str = "") -> Crontab:
    """Read a crontab. If `system` is true, each line names a user, as in `/etc/crontab`. Times are in the zone `tz`
    until a line sets another zone. Raises FileError, which lists all lines that cannot be read."""
    crontab = Crontab()
    problems: list[FileProblem] = []
    reading = _Reading(file, system, tz, crontab)
    for number, line in enumerate(text.splitlines(), 1):
        try:
            reading.line(number, line)
        except _Wrong as wrong:
            problems.append(FileProblem(file, Place(number, wrong.column), str(wrong)))
    if problems:
        raise FileError(problems)
    if crontab.lines and not (tz or reading.zoned):
        crontab.notes.append("no zone is given, so times are read in UTC; cron reads them on the clock of its machine")
    return crontab


class _Wrong(Exception):
    def __init__(self, column: int, message: str) -> None:
        super().__init__(message)
        self.column = column


class _Reading:
    def __init__(self, file: str, system: bool, tz: str, crontab: Crontab) -> None:
        self._file = file
        self._system = system
        self._tz = tz
        self._found = crontab
        self._environment: dict[str, str] = {}
        self._delay = ""
        self.zoned = False

    def line(self, number: int, text: str) -> None:
        begin = len(text) - len(text.lstrip())
        if not text.strip() or text[begin] == "#":
            return
        setting = _ENVIRONMENT.fullmatch(text)
        if setting:
            self._set(number, setting["name"], _unquoted(setting["value"]), setting.start("value") + 1)
            return
        words = list(_PARTS.finditer(text))
        first = words[0][0]
        if first.lower() == "@reboot":
            reason = "@reboot is no time: a store outlives the machine. Start the job where your program starts"
            self._found.left_out.append(FileProblem(self._file, Place(number, begin + 1), reason))
            return
        fields = 1 if first.startswith("@") else 5
        wanted = fields + 1 + self._system
        if len(words) < wanted:
            missing = "its user or its command" if self._system else "its command"
            what = "the times" if len(words) < fields else missing
            form = "minute hour day month weekday " + ("user command" if self._system else "command")
            raise _Wrong(begin + 1, f"{text.strip()!r} ends before {what}; a line is '{form}'")
        times = " ".join(word[0] for word in words[:fields])
        if times.startswith("-"):  # on SUSE, this keeps a line out of the log
            times = times[1:]
        spec = self._spec(times, begin + 1)
        input: dict[str, Any] = _command(text[words[wanted - 1].start() :].rstrip())
        if not input["command"]:
            raise _Wrong(words[wanted - 1].start() + 1, f"{text.strip()!r} has nothing before its '%' to run")
        if self._system:
            input["user"] = words[fields][0]
        if self._environment:
            input["env"] = dict(self._environment)
        self._found.lines.append(Line(number, spec, input))

    def _spec(self, times: str, column: int) -> dict[str, Any]:
        try:
            cron(times, tz=self._tz)
        except SpecError as problem:
            raise _Wrong(column, str(problem)) from None
        spec: dict[str, Any] = {"cron": [times]}
        if self._tz:
            spec["tz"] = self._tz
        if self._delay:
            spec["jitter"] = self._delay
        return spec

    def _set(self, number: int, name: str, value: str, column: int) -> None:
        note = self._found.notes.append
        if name in ("CRON_TZ", "TZ"):
            try:
                cron("@daily", tz=value)
            except SpecError as problem:
                raise _Wrong(column, f"{name}: {problem}") from None
            self._tz, self.zoned = value, True
            if name == "TZ":
                note(f"line {number}: TZ={value} is taken for the zone of what follows; some crons read only CRON_TZ")
        elif name in _ABOUT_MAIL:
            note(f"line {number}: {name} is passed over: nothing is mailed. What a run returns or raises is on record")
        elif name == "RANDOM_DELAY":
            if not value.isdigit():
                raise _Wrong(column, f"RANDOM_DELAY {value!r} is not a number of minutes")
            self._delay = f"{value}m" if int(value) else ""
        else:
            self._environment[name] = value
            note(f"line {number}: {name} goes with the commands after it, as env in their input")


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def _command(text: str) -> dict[str, Any]:
    """Return the job's input for a command of a crontab. The text after the first % is standard input, in which every
    further % is a line break. `\\%` is a plain %."""
    command, *rest = _UNESCAPED_PERCENT.split(text)
    input: dict[str, Any] = {"command": command.replace("\\%", "%").strip()}
    if rest:
        input["stdin"] = "\n".join(rest).replace("\\%", "%") + "\n"
    return input


def _job_of(command: str, jobs: Mapping[str, str], otherwise: str) -> str:
    return next((job for pattern, job in jobs.items() if fnmatchcase(command, pattern)), otherwise)


def _named(lines: Iterable[Line]) -> Iterator[tuple[str, Line]]:
    """Yield (name, line) for each line. The name comes from the command of the line, not from its position. If several
    lines would get the same name, a few digits of a hash of the line are appended. Equal lines are also numbered."""
    lines = list(lines)
    alike = Counter(_slug(line.command) for line in lines)
    seen: Counter[str] = Counter()
    for line in lines:
        name = _slug(line.command)
        if alike[name] > 1:
            said = f"{sorted(line.spec.items())!r} {sorted(line.input.items())!r}"
            name += f"-{sha256(said.encode()).hexdigest()[:6]}"
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}-{seen[name]}", line


def _slug(command: str) -> str:
    """Derive a name from a command: `cd /srv && /usr/bin/backup.sh --full > log` becomes `backup.sh-full`."""
    rest = re.sub(r"^(\s*cd\s+\S+\s*(&&|;)|\s*[A-Za-z_]\w*=\S*\s)+", "", command)
    words = _OPERATOR.split(rest, maxsplit=1)[0].split() or command.split()
    words = [word.rstrip("/").rsplit("/", 1)[-1] if n == 0 else word for n, word in enumerate(words)]
    name = re.sub(r"[^\w.]+", "-", " ".join(words).lower()).strip("-.")[:_NAME].strip("-.")
    return name or "line"
