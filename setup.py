"""The compiled core. Everything else about the package stands in pyproject.toml.

Two switches for developers, read from the environment:

RANKMETER_CHECKS=1    bounds checks and C assertions back on, and small inputs in every branch
RANKMETER_COVERAGE=1  line tracing, for coverage of the Cython sources
"""

import os
import re
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

CHECKS = os.environ.get("RANKMETER_CHECKS") == "1"
COVERAGE = os.environ.get("RANKMETER_COVERAGE") == "1"

DIRECTIVES = {
    "language_level": 3,
    "freethreading_compatible": True,
    "boundscheck": CHECKS,
    "wraparound": False,
    "initializedcheck": CHECKS,
    "cdivision": True,
    "embedsignature": True,
    "linetrace": COVERAGE,
}

CORE = Path("src/rankmeter/_core")

# The same digits everywhere: a product and a sum are two roundings, never one fused operation, and
# each rounds to a double, which the x87 unit of 32-bit x86 does not. What these flags do not reach,
# the header refuses.
HEADER = (CORE / "digits.h").as_posix()
if sys.platform == "win32":
    FLAGS = ["/O2", "/fp:precise", "/std:c11", "/FI" + HEADER]
else:
    FLAGS = ["-O3", "-ffp-contract=off", "-fno-fast-math", "-include", HEADER]
    # not of the machine, which may be a 64-bit one
    if re.match("i[3-6]86-", sysconfig.get_config_var("HOST_GNU_TYPE") or ""):
        FLAGS += ["-msse2", "-mfpmath=sse"]

MACROS = [("CYTHON_TRACE", "1"), ("CYTHON_USE_SYS_MONITORING", "0")] if COVERAGE else []
if CHECKS:
    MACROS.append(("RANKMETER_CHECKS", "1"))

extensions = [
    Extension(
        ".".join(source.relative_to("src").with_suffix("").parts),
        [source.as_posix()],
        depends=[header.as_posix() for header in sorted(CORE.rglob("*.h"))],
        include_dirs=[CORE.as_posix()],
        extra_compile_args=FLAGS,
        define_macros=MACROS,
        undef_macros=["NDEBUG"] if CHECKS else [],
    )
    for source in sorted(CORE.rglob("*.pyx"))
]
if not extensions:
    sys.exit("the Cython sources in src/rankmeter/_core are missing: nothing to build")

setup(
    ext_modules=cythonize(
        extensions,
        compiler_directives=DIRECTIVES,
        build_dir="build/checks" if CHECKS else "build/cython",
        force=CHECKS or COVERAGE,
    )
)
