"""A property that is worked out once and kept.

`functools.cached_property` up to Python 3.11 has one lock for all instances: while one thread works out a long spec,
every other thread that asks any spec waits, the event loop among them. Here two threads may both do the work, and one
of the two equal values is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazily(Generic[T]):
    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function = function
        self._name = function.__name__
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazily[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> lazily[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._function(instance)
        return value
