"""Compile the Cython core. All metadata is in pyproject.toml."""

import os
import re
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# SPMCOMPAT_DEBUG=1 builds with all bounds checks, in Cython and in the C++ containers.
DEBUG = bool(os.environ.get("SPMCOMPAT_DEBUG"))

# A multiplication and an addition must not be contracted to one operation: such an operation rounds
# only once, so scores would change.
FLAGS = ["-std=c++17", "-ffp-contract=off", "-Wall", "-Wno-unused-function"]
FLAGS += ["-O1", "-g", "-D_GLIBCXX_ASSERTIONS"] if DEBUG else ["-O3", "-g0"]
FLAGS += ["-Werror"] if os.environ.get("SPMCOMPAT_WERROR") else []


class Build(build_ext):
    """Compiles on all cores; reports a platform or compiler that cannot build the package."""

    def finalize_options(self):
        """Compile one module per core at the same time, unless the user sets another number."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self):
        """Check the platform, then build."""
        if sys.maxsize < 2**32 or sys.byteorder != "little":
            raise SystemExit(
                "spmcompat needs a 64-bit little-endian platform, such as x86-64 or aarch64."
            )
        super().run()

    def build_extensions(self):
        """Check the compiler and adapt its flags, then build."""
        if self.compiler.compiler_type == "msvc":
            clang = shutil.which("clang-cl")
            if clang is None:
                raise SystemExit(
                    "spmcompat needs GCC 11 or later, or Clang 14 or later: use WSL, or put "
                    "clang-cl in PATH, which is then used instead of Microsoft's compiler."
                )
            if not self.compiler.initialized:
                self.compiler.initialize()
            self.compiler.cc = clang
            # setuptools also passes flags for Microsoft's compiler. Clang must not warn about the
            # flags that it does not use.
            flags = ["-Wno-unused-command-line-argument", *(f"/clang:{flag}" for flag in FLAGS)]
            for extension in self.extensions:
                extension.extra_compile_args = flags
        elif self.compiler.compiler_type == "mingw32":
            # The mingw-w64 libraries are not part of Windows, so they are linked statically.
            for extension in self.extensions:
                extension.extra_link_args = ["-static"]
        super().build_extensions()


def with_included(headers: Iterable[str]) -> list[str]:
    """Return the given headers, and all headers of this package that they include."""
    found: set[str] = set()
    waiting = list(headers)
    while waiting:
        header = waiting.pop()
        if header not in found:
            found.add(header)
            waiting += re.findall(
                r'^#include "(.+)"', Path(header).read_text("utf-8"), re.MULTILINE
            )
    return sorted(found)


extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [str(source)],
        include_dirs=["."],
        language="c++",
        extra_compile_args=FLAGS,
    )
    for source in sorted(Path("spmcompat").rglob("*.pyx"))
]

modules = cythonize(
    extensions,
    build_dir="build/debug" if DEBUG else "build/cython",
    compiler_directives={
        "language_level": 3,
        "wraparound": False,
        "cdivision": True,
        "boundscheck": DEBUG,
        "initializedcheck": DEBUG,
        "freethreading_compatible": True,
        "auto_pickle": False,
        "autotestdict": False,
        "embedsignature": True,
    },
)
# Cython lists only the headers that a module names itself. Add the headers that these include, so
# that a change to any of them rebuilds the module.
for module in modules:
    module.depends = with_included(module.depends)

setup(cmdclass={"build_ext": Build}, ext_modules=modules)
