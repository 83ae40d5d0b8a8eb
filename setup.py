"""Compile the Cython core. All metadata is in pyproject.toml."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

# SPMCOMPAT_DEBUG=1 builds with all bounds checks, in Cython and in the C++ containers.
DEBUG = bool(os.environ.get("SPMCOMPAT_DEBUG"))

# A multiplication and an addition must not be contracted to one rounding: scores would change.
FLAGS = ["-std=c++17", "-ffp-contract=off", "-Wall", "-Wno-unused-function"]
FLAGS += ["-O1", "-g", "-D_GLIBCXX_ASSERTIONS"] if DEBUG else ["-O3", "-g0"]
FLAGS += ["-Werror"] if os.environ.get("CI") else []

extensions = [
    Extension(
        ".".join(source.with_suffix("").parts),
        [str(source)],
        include_dirs=["."],
        language="c++",
        extra_compile_args=FLAGS,
        depends=[str(header) for header in Path("spmcompat").rglob("*.hpp")],
    )
    for source in sorted(Path("spmcompat").rglob("*.pyx"))
]

setup(
    ext_modules=cythonize(
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
)
