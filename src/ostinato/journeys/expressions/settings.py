"""Set the limits of expressions, and the number of worker processes."""

from __future__ import annotations

from dataclasses import dataclass

from ostinato.errors import OstinatoError

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ExpressionSettings:
    workers: int = 2  # processes of each language, started when needed
    slow_workers: int = 1  # further processes, for evaluations that take longer than `slow_after_s`
    slow_after_s: float = 0.25
    memory_bytes: int = 256 * MIB  # address space of one process of jq or JSONata
    dataweave_memory_bytes: int = 1024 * MIB  # for DataWeave, whose runtime takes a quarter of it
    max_expression_bytes: int = 64 << 10
    max_bindings_bytes: int = 4 * MIB
    max_result_bytes: int = 1 * MIB
    check_deadline_s: float = 1.0
    patience_s: float = 5.0  # how long to wait for a suspended worker after its deadline
    start_deadline_s: float = 30.0

    def __post_init__(self) -> None:
        for name, most in (
            ("workers", 64),
            ("slow_workers", 64),
            ("max_expression_bytes", MIB),
            ("max_bindings_bytes", 32 * MIB),
        ):
            if not 1 <= (value := getattr(self, name)) <= most:
                raise OstinatoError(f"expressions: {name} = {value!r} is not from 1 to {most}")

    def memory_of(self, language: str) -> int:
        return self.dataweave_memory_bytes if language == "dataweave" else self.memory_bytes
