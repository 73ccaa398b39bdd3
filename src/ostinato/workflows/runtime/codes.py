"""Find the code of workflows in this process, by its digest."""

from __future__ import annotations

import importlib

from ostinato.engine.log import log
from ostinato.errors import OstinatoError, describe_exception
from ostinato.workflows.declaration import WorkflowCode
from ostinato.workflows.model import Workflow


class WorkflowCodes:
    """The code of workflows in this process: declared, deployed or loaded by import path."""

    def __init__(self) -> None:
        self.declared: dict[str, WorkflowCode] = {}
        self._by_digest: dict[tuple[str, str], WorkflowCode] = {}

    def declare(self, code: WorkflowCode) -> None:
        if code.name in self.declared:
            raise OstinatoError(f"there is a workflow {code.name!r} already; give one of them another name")
        self.declared[code.name] = code

    def take_over(self, before: WorkflowCodes) -> None:
        """Copy the declarations of `before`, the instance that this instance replaces."""
        self.declared |= before.declared

    def add(self, code: WorkflowCode) -> str:
        """Add the code of one version of a workflow. Return the digest of the code."""
        digest = code.digest()
        self._by_digest[code.name, digest] = code
        return digest

    def find(self, workflow: Workflow) -> WorkflowCode | None:
        """Return the code of a workflow's active version, or None if this process does not have it."""
        key = workflow.name, workflow.digest
        if key not in self._by_digest:
            if workflow.name in self.declared:
                self.add(self.declared[workflow.name])
            if key not in self._by_digest and workflow.source is not None:
                self._load(workflow.source)
        return self._by_digest.get(key)

    def _load(self, path: str) -> None:
        try:
            self.add(load(path))
        except Exception as problem:
            log.warning(f"the workflow {path} cannot be loaded: {problem}", action="workflow_not_loaded", path=path)


def load(path: str) -> WorkflowCode:
    """Import a workflow from `"package.module:name"`. Raises `OstinatoError` if there is no such workflow."""
    module, _, name = path.partition(":")
    if not module or not name:
        raise OstinatoError(f"{path!r} is no import path of a workflow; write 'package.module:name'")
    try:
        code = getattr(importlib.import_module(module), name, None)
    except Exception as problem:
        raise OstinatoError(f"{path!r} cannot be imported: {describe_exception(problem)}") from problem
    if not isinstance(code, WorkflowCode):
        raise OstinatoError(f"{path!r} is no workflow, but {type(code).__name__}")
    return code
