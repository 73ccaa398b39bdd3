"""Let a package offer names from its modules, and import a module when one of its names is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, offered: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions `__getattr__` and `__dir__` for a package. `offered` maps the name of a module to the names
    that the package offers from it, separated by spaces. If the name of a module begins with a dot, it is relative to
    the package."""
    modules = {name: module for module, names in offered.items() for name in names.split()}

    def get_name(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}{_hint(name)}")
        value = getattr(import_module(modules[name], package), name)
        setattr(sys.modules[package], name, value)
        return value

    def _hint(name: str) -> str:
        if name.startswith("_"):  # Python and its tools ask for such names
            return ""
        from ostinato.errors import did_you_mean, list_choices

        return f"; {did_you_mean(name, modules) or list_choices(sorted(modules))}"

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *modules})

    return get_name, list_names
