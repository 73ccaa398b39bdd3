"""Import the app that `--app module:name` names."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
from pathlib import Path
from traceback import walk_tb
from typing import Any

from ostinato.app import Ostinato
from ostinato.errors import OstinatoError, describe_exception, did_you_mean

_HINT = "write --app module:name, such as jobs:app for `app = Ostinato(…)` in jobs.py"
_IN_A_LOOP = ("cannot be called from a running event loop", "loop is already running", "another loop is running")


def load_app(text: str) -> Ostinato:
    """Import the app that `module:name` names. The module may be in the current folder. Raises `OstinatoError` if the
    text names no `Ostinato`, or if the module cannot be imported."""
    module_name, separator, name = text.partition(":")
    if not separator or not module_name or not name or module_name.endswith(".py") or "/" in module_name:
        raise OstinatoError(f"--app {text!r} does not name an app; {_HINT}")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    module = _import(module_name, folder)
    value: Any = module
    for part in name.split("."):
        if not hasattr(value, part):
            apps = [key for key, value in vars(module).items() if isinstance(value, Ostinato)]
            hint = did_you_mean(part, apps) or (f"it has {', '.join(apps)}" if apps else "it has no Ostinato at all")
            raise OstinatoError(f"the module {module_name} has no {part!r}; {hint}")
        value = getattr(value, part)
    if isinstance(value, Ostinato):
        return value
    if inspect.iscoroutine(value):
        value.close()
    if inspect.iscoroutinefunction(value) or inspect.iscoroutine(value) or asyncio.isfuture(value):
        raise OstinatoError(
            f"{text} is async: an app is made before any loop runs. Make `app = Ostinato(…)` at the top of the module, "
            "and put what must be awaited into a job"
        )
    if callable(value) and not isinstance(value, type):
        raise OstinatoError(f"{text} is a function; name the Ostinato itself: `app = {name}()` at the module's top")
    raise OstinatoError(f"{text} is of the type {type(value).__name__}, not an Ostinato; {_HINT}")


def _import(name: str, folder: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        missing = problem.name or ""
        if name == missing or name.startswith(f"{missing}."):
            near = did_you_mean(name, [file.stem for file in Path(folder).glob("*.py")])
            hint = f"; {near}" if near else ""
            raise OstinatoError(f"there is no module {missing!r}, installed or in {folder}{hint}") from problem
        raise OstinatoError(f"the module {name} needs {missing!r}, which is not installed") from problem
    except OstinatoError as problem:
        raise OstinatoError(f"the module {name}: {problem}") from problem
    except RuntimeError as problem:
        if not str(problem).endswith(_IN_A_LOOP):
            raise _not_imported(name, problem) from problem
        _close_coroutines(problem)
        raise OstinatoError(
            f"the module {name} runs asyncio code while it is imported: {problem}. Put the call under "
            '`if __name__ == "__main__":`, or into another file that imports the app'
        ) from problem
    except Exception as problem:
        raise _not_imported(name, problem) from problem


def _not_imported(name: str, problem: Exception) -> OstinatoError:
    return OstinatoError(f"the module {name} cannot be imported: {describe_exception(problem)}")


def _close_coroutines(problem: Exception) -> None:
    """Close the coroutine that a call such as `asyncio.run(main())` was given. Python would warn that it was never
    awaited."""
    for frame, _ in walk_tb(problem.__traceback__):
        for value in frame.f_locals.values():
            if inspect.iscoroutine(value) and inspect.getcoroutinestate(value) == inspect.CORO_CREATED:
                value.close()
