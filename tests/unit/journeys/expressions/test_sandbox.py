"""Hostile expressions, one by one: each fails its own request with a code, and harms nothing else."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from ostinato.journeys.expressions.contract import Evaluation, Value
from ostinato.journeys.expressions.languages import SandboxedLanguage
from ostinato.journeys.expressions.settings import ExpressionSettings
from tests.unit.journeys.expressions.conftest import Spoken

FINE = {"dataweave": "1 + 1", "jq": "1 + 1", "jsonata": "1 + 1"}
XXE = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'

DENIED = [
    ("dataweave", "readUrl('file:///etc/passwd', 'text/plain')"),
    ("dataweave", "{lazy: [1] map readUrl('file:///etc/passwd', 'text/plain')}"),
    ("dataweave", "readUrl('classpath://x', 'text/plain')"),
    ("dataweave", "dw::System::envVars()"),
    ("dataweave", "dw::System::envVar('PATH')"),
    ("dataweave", "dw::Runtime::props()"),
    ("dataweave", f"read('{XXE}', 'application/xml', {{externalEntities: true, supportDtd: true}})"),
    ("dataweave", "dw::Runtime::eval('m.dwl', {'m.dwl': '1'}, {}, {}, {})"),
    ("dataweave", "dw::Runtime::run('m.dwl', {'m.dwl': '1'}, {}, {}, {securityManager: (g, a) -> true})"),
    ("jq", "env"),
    ("jq", "env.PATH"),
    ("jq", "input"),
    ("jq", "[inputs]"),
]
NOT_THERE = [
    ("dataweave", "dw::io::file::FileSystem::home()"),
    ("dataweave", "java!java::lang::System::exit(1)"),
    ("dataweave", "dw::io::http::Client::get('http://127.0.0.1/')"),
    ("dataweave", "dw::io::process::Process::exec(['ls'])"),
    ("jq", 'include "x"; 1'),
    ("jq", 'import "/etc/passwd" as $x; $x'),
    ("jq", "$__prog_args"),
    ("jsonata", "$readFile('/etc/passwd')"),
    ("jsonata", "$eval('$env()')"),
    ("jsonata", "$import('os')"),
]
ENDLESS = [
    ("dataweave", "(1 to 100000000000) reduce ((i, sum = 0) -> sum + i)"),
    ("dataweave", "do { fun f(x) = if (x < 0) 0 else f(x + 1) --- f(1) }"),
    ("dataweave", "((1 to 1000000000) filter ((x) -> x < 0))[0]"),
    ("dataweave", "(1 to 50) map dw::Runtime::try(() -> (1 to 100000000000) reduce ((i, sum = 0) -> sum + i))"),
    ("jq", "def f: f; f"),
    ("jq", "last(repeat(1))"),
    ("jq", "reduce range(1e12) as $i (0; . + $i)"),
    ("jsonata", "($f := function($x) { $f($x) }; $f(1))"),
    ("jsonata", "$match('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', /(a+)+c/)"),
    ("jsonata", "$replace('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab', /(a|a)*c/, '')"),
]
GREEDY = [
    ("dataweave", "do { fun f(s) = f(s ++ s) --- f('aaaaaaaaaaaaaaaa') }"),
    ("jq", "[range(1e12)]"),
    ("jq", '"abcdefgh" * 100000000 | length'),
    ("jq", "def f: 1 + f; f"),
    ("jsonata", "$pad('a', 1000000000)"),
    ("jsonata", "($f := function($s) { $f($s & $s) }; $f('aaaaaaaaaaaaaaaa'))"),
]
DEEP = [
    ("dataweave", "do { fun f(x) = 1 + f(x) --- f(1) }"),
    ("jsonata", "($f := function($x) { $f($x) + 1 }; $f(1))"),
]


@pytest.mark.parametrize(("name", "expr"), DENIED)
def test_what_reaches_outside_is_denied(spoken: Spoken, name: str, expr: str) -> None:
    assert spoken.one(name, expr) == "EXPRESSION_DENIED"


@pytest.mark.parametrize(("name", "expr"), NOT_THERE)
def test_what_could_reach_outside_is_not_there(spoken: Spoken, name: str, expr: str) -> None:
    assert spoken.one(name, expr) == "EXPRESSION_ERROR"


def test_the_network_is_not_reached(spoken: Spoken) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        assert spoken.one("dataweave", f"readUrl('{url}', 'text/plain')") == "EXPRESSION_DENIED"
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize(("name", "expr"), ENDLESS)
def test_what_never_ends_is_ended(spoken: Spoken, name: str, expr: str) -> None:
    assert spoken.one(name, expr, deadline=0.3) == "EXPRESSION_TIMEOUT"
    assert spoken.one(name, FINE[name]) == 2


@pytest.mark.parametrize(("name", "expr"), GREEDY)
def test_what_wants_all_memory_does_not_get_it(spoken: Spoken, name: str, expr: str) -> None:
    assert spoken.one(name, expr, deadline=20) == "EXPRESSION_MEMORY"
    assert spoken.one(name, FINE[name]) == 2


@pytest.mark.parametrize(("name", "expr"), DEEP)
def test_what_calls_itself_for_ever_is_an_error(spoken: Spoken, name: str, expr: str) -> None:
    assert spoken.one(name, expr) == "EXPRESSION_ERROR"


def test_what_brings_its_process_down_is_told_so(spoken: Spoken) -> None:
    """jq writes what is nested this deeply by calling itself, and falls off the stack."""
    assert spoken.one("jq", "reduce range(3e5) as $i (null; [.])", deadline=20) == "EXPRESSION_CRASHED"
    assert spoken.one("jq", FINE["jq"]) == 2


@pytest.mark.parametrize("name", FINE)
def test_poison_in_a_batch_harms_nothing_else(spoken: Spoken, name: str) -> None:
    kinds = ([expr for language, expr in table if language == name] for table in (ENDLESS, GREEDY, DENIED, NOT_THERE))
    poison = [kind[0] for kind in kinds if kind]
    asked = [(f"{FINE[name]} + {n}", None) for n in range(12)]
    for place, expr in enumerate(poison):
        asked.insert(3 * place + 1, (expr, None))
    answers = spoken.all(name, *asked, deadline=1.0)
    codes = [answer for (expr, _), answer in zip(asked, answers, strict=True) if expr in poison]
    assert all(str(code).startswith("EXPRESSION_") for code in codes), codes
    assert [answer for answer in answers if answer not in codes] == [2 + n for n in range(12)]


def test_what_would_end_many_workers_in_one_batch_is_done_to_the_end(spoken: Spoken) -> None:
    asked = [("def f: f; f", None), (".context", 1), ("[range(1e12)]", None), (".context", 2), ("halt", None)]
    answers = spoken.all("jq", *asked, deadline=0.5)
    assert answers[0] == "EXPRESSION_TIMEOUT"
    assert answers[2] in ("EXPRESSION_TIMEOUT", "EXPRESSION_MEMORY")
    assert [answers[1], answers[3], answers[4]] == [1, 2, "EXPRESSION_RESULT_INVALID"]


def test_bindings_that_do_not_fit_into_a_worker_harm_nothing_else(spoken: Spoken) -> None:
    """A few megabytes of JSON can be hundreds once they are read: the worker dies before it has begun with any."""
    asked = [(".context", 1), (".context | length", [[]] * 1_300_000), (".context", 2)]
    first, large, last = spoken.all("jq", *asked)
    assert (first, last) == (1, 2)
    assert large in ("EXPRESSION_MEMORY", "EXPRESSION_CRASHED", 1_300_000)


@pytest.mark.parametrize("name", FINE)
def test_a_killed_worker_is_replaced(spoken: Spoken, name: str) -> None:
    assert spoken.all(name, *[(FINE[name], None)] * 500) == [2] * 500  # enough for two workers
    before = spoken[name].pool.pids()
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    assert spoken.all(name, *[(FINE[name], None)] * 5) == [2] * 5
    assert set(spoken[name].pool.pids()).isdisjoint(before)


def stop(pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGCONT])
def test_a_worker_that_stands_still_is_given_up(spoken: Spoken, end: signal.Signals) -> None:
    """Killed from outside in the middle of its work, or stopped for longer than anyone waits: nobody is blamed."""

    async def main() -> list[object]:
        jq = spoken["jq"]
        assert await jq.evaluate([Evaluation("1", {}, 5.0)]) == [Value(1)]
        stopped = jq.pool.pids()
        for pid in stopped:
            stop(pid)
        asked = [Evaluation(".context", {"context": n}, 0.3) for n in range(3)]
        task = asyncio.create_task(jq.evaluate(asked))
        if end == signal.SIGKILL:
            await asyncio.sleep(0)
            for pid in stopped:
                os.kill(pid, signal.SIGKILL)
        answers = await task
        for pid in set(stopped) & set(jq.pool.pids()):
            os.kill(pid, signal.SIGCONT)
        return [answer.value if isinstance(answer, Value) else answer for answer in answers]

    assert asyncio.run(main()) == [0, 1, 2]


@pytest.mark.parametrize("name", FINE)
def test_a_worker_has_no_environment_no_descriptors_and_no_part_in_ctrl_c(spoken: Spoken, name: str) -> None:
    assert spoken.one(name, FINE[name]) == 2
    for pid in spoken[name].pool.pids():
        assert Path(f"/proc/{pid}/environ").read_bytes() == b""
        limits = Path(f"/proc/{pid}/limits").read_text()
        assert next(line for line in limits.splitlines() if line.startswith("Max open files")).split()[3:5] == [
            "0",
            "0",
        ]
        opened = [os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir()]
        harmless = ("pipe:", "/dev/urandom", "/dev/random")  # what it was given, and chance
        assert all(file.startswith(harmless) or file.endswith(("(deleted)", "dwlib.so")) for file in opened), opened
        assert os.getsid(pid) != os.getsid(0)
        os.kill(pid, signal.SIGINT)
    before = spoken[name].pool.pids()
    assert spoken.one(name, FINE[name]) == 2
    assert spoken[name].pool.pids() == before


def test_the_door_holds_without_any_sandbox_of_a_language() -> None:
    """Whatever a language lets through: no file, no socket, no pipe, no more memory."""
    tries = """
        import os, socket
        from ostinato.journeys.expressions.sandbox.main import restrict_process
        restrict_process(400 << 20)
        def fails(attempt):
            try:
                attempt()
            except (OSError, MemoryError) as problem:
                return type(problem).__name__
        print([fails(attempt) for attempt in (
            lambda: open("/etc/passwd"), lambda: socket.socket(), os.pipe, lambda: bytearray(1 << 30),
        )])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(tries)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(["OSError", "OSError", "OSError", "MemoryError"])


USER = """
    import asyncio, os, sys
    from ostinato.journeys.expressions.contract import Evaluation
    from ostinato.journeys.expressions.languages import languages
    jq = languages()["jq"]
    def ask(n):
        return asyncio.run(jq.evaluate([Evaluation(".context + 1", {"context": n}, 5.0)]))[0].value
"""


def test_workers_end_with_who_started_them() -> None:
    """Even if that one was killed, and even in the middle of an evaluation."""
    program = textwrap.dedent(USER) + textwrap.dedent("""
        ask(1)
        print(*jq.pool.pids(), flush=True)
        asyncio.run(jq.evaluate([Evaluation("def f: f; f", {}, 1.0)]))
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as user:
        assert user.stdout is not None
        workers = [os.pidfd_open(int(pid)) for pid in user.stdout.readline().split()]
        user.kill()
    assert workers
    for worker in workers:
        assert select.select([worker], [], [], 20)[0], "the worker is still there"
        os.close(worker)


def test_a_forked_process_has_workers_of_its_own() -> None:
    program = textwrap.dedent(USER) + textwrap.dedent("""
        ask(1)
        mine = jq.pool.pids()
        child = os.fork()
        if child == 0:
            print(ask(10), set(jq.pool.pids()).isdisjoint(mine), flush=True)
            jq.close()
            os._exit(0)
        os.waitpid(child, 0)
        print(ask(20), jq.pool.pids() == mine)
        jq.close()
        print(jq.pool.pids(), ask(30))
        jq.close()
    """)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["11 True", "21 True", "[] 31"]


def test_closing_ends_what_is_under_way() -> None:
    language = SandboxedLanguage("jq", "jq", settings=ExpressionSettings(workers=1))

    async def main() -> list[str]:
        assert await language.evaluate([Evaluation("1", {}, 5.0)]) == [Value(1)]
        while language.pool.busy:  # the answer arrives before its worker is given back
            await asyncio.sleep(0)
        (pid,) = language.pool.pids()
        stop(pid)
        task = asyncio.create_task(language.evaluate([Evaluation("1", {}, 60.0)]))
        while not language.pool.busy:
            await asyncio.sleep(0)
        await asyncio.to_thread(language.close)
        return [type(answer).__name__ for answer in await task]

    assert asyncio.run(main()) == ["Failure"]
    assert language.pool.pids() == []
