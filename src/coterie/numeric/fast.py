"""What we use of numba's private parts. Without any of it everything works, but slowly.

:mod:`coterie.numeric.jit` asks for ``OPTIONS``, and compiles plainly where this module cannot be
imported or what it asks for cannot be compiled. ``python -m benchmarks samplers.compilation``
prints what it is worth: sweeps three to sixteen times as fast, and two thirds of the compilation.

numba optimises every function by itself and makes machine code of it, then links it into those
that call it, where both are done again. What is never called by itself needs neither: it gets a
library (:class:`LinkedLibrary`) that only tidies up. It makes no arrays, so that nothing in it has
to count references (``_nrt``), and nobody calls it from Python or C (no wrappers). And numba
compiles a function again for every constant that it is called with; here (:func:`widened`) once.
What a call in a kernel gives is asked once (:func:`asking_once`).

The rest of the private parts: how tuples go from function to function
(:mod:`coterie.numeric.tuple_passing`) and kernels that go to code compiled by itself
(:mod:`coterie.numeric.code_address`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import AnalysisPass, register_pass
from numba.core.targetconfig import ConfigStack
from numba.core.typed_passes import AnnotateTypes
from numba.core.types import unliteral
from numba.core.types.functions import BaseFunction


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


class TidiedLibrary(LinkedLibrary):
    """The same, the code only made smaller: the kernel that it is linked into does the rest."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        builder = llvm.create_pass_builder(self._codegen._tm, llvm.PipelineTuningOptions(0))
        passes = llvm.create_new_function_pass_manager()
        for add in TIDYING:
            getattr(passes, add)()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)


TIDYING = ("add_sroa_pass", "add_simplify_cfg_pass", "add_instruction_combine_pass")
"""LLVM's passes that make most of the code vanish; an older llvmlite lacks some."""
_manager = getattr(llvm, "create_new_function_pass_manager", lambda: None)()
_has_passes = all(hasattr(_manager, add) for add in TIDYING)
LIBRARY: type[LinkedLibrary] = TidiedLibrary if _has_passes else LinkedLibrary


@register_pass(mutates_CFG=False, analysis_only=True)
class UseLinkedLibrary(AnalysisPass):
    """Choose where the code goes, before it is made."""

    _name = "use_linked_library"

    def __init__(self) -> None:
        AnalysisPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        """Change nothing but the library."""
        state.library = LIBRARY(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return False


class InnerCompiler(CompilerBase):
    """numba's compiler, but for the library."""

    def define_pipelines(self) -> list[Any]:
        """Give numba's own passes, and ours just before code is made."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(UseLinkedLibrary, AnnotateTypes)
        passes.finalize()
        return [passes]


class KernelCompiler(Compiler):
    """numba's compiler for a kernel; all that it calls is compiled meanwhile."""

    def compile_extra(self, func: Any) -> Any:
        """Compile, asking once what each function of numba's gives for some types."""
        with asking_once():
            return super().compile_extra(func)


@contextmanager
def asking_once() -> Iterator[None]:
    """Remember the types of calls: to find out what a + b is numba tries a score of definitions.

    Of the options that a definition looks at, all that is compiled within has the same but one.
    Nobody else compiles meanwhile: numba lets only one thread do so.
    """
    functions: Any = BaseFunction
    ask, known = functions.get_call_type, {}

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        key = self, tuple(args), tuple(kws.items()), ConfigStack().top().nrt
        if key not in known:
            known[key] = ask(self, context, args, kws)
        return known[key]

    functions.get_call_type = get_call_type
    try:
        yield
    finally:
        functions.get_call_type = ask


_INNER = {
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": InnerCompiler,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "kernel": {"no_cfunc_wrapper": True, "pipeline_class": KernelCompiler},
    "apart": {**_INNER, "pipeline_class": KernelCompiler},
    "part": _INNER,
    "piece": _INNER,
}
"""Of ``numba.njit``, for what :mod:`coterie.numeric.jit` calls a kernel, a part and a piece, and
:mod:`coterie.numeric.separate_code` a part by itself."""


def widened(dispatcher: Any) -> Any:
    """Let a function take numbers where it is called with constants: it is compiled for both once.

    What is pasted into its caller is optimised there, the constants included.
    """
    typed = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        return typed(tuple(map(unliteral, args)), kws)

    dispatcher.get_call_template = get_call_template
    return dispatcher
