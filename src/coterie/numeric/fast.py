"""All that we use of numba's private parts. Without any of it everything works, but slowly.

:mod:`coterie.numeric.jit` asks for ``OPTIONS``, and compiles plainly where this module cannot be
imported or what it asks for cannot be compiled. ``python -m benchmarks samplers.compilation``
prints what it is worth: sweeps four to five times as fast, and two thirds of the compilation.

numba optimises every function by itself and makes machine code of it, then links it into those
that call it, where both are done again. What is never called by itself needs neither: it gets a
library (:class:`LinkedLibrary`) that does neither. It makes no arrays, so that nothing in it has
to count references (``_nrt``), and nobody calls it from Python or C (no wrappers).
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.typed_passes import AnnotateTypes


class _NoCode:
    """Stands for the generator of machine code, where there is none."""

    def set_env(self, name: str, env: object) -> None:
        """Have nowhere to write where the function's globals are; callers have their own."""


class LinkedLibrary(JITCodeLibrary):
    """Intermediate code that waits to be linked into that of a caller."""

    codegen = _NoCode()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Give the null pointer: the function cannot be called by itself."""
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=False, analysis_only=True)
class UseLinkedLibrary(AnalysisPass):
    """Choose where the code goes, before it is made."""

    _name = "use_linked_library"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change nothing but the library."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


class LinkedCompiler(CompilerBase):
    """numba's compiler, but for the library."""

    def define_pipelines(self) -> list[Any]:
        """Give numba's own passes, and ours just before code is made."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(UseLinkedLibrary, AnnotateTypes)
        passes.finalize()
        return [passes]


_INNER = {
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": LinkedCompiler,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "kernel": {"no_cfunc_wrapper": True},
    "part": _INNER,
    "piece": _INNER,
}
"""Of ``numba.njit``, for what :mod:`coterie.numeric.jit` calls a kernel, a part and a piece."""
