"""The house is in order: what may import what, and what nobody but its owner may touch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankmeter

# From the top down: a folder may import what stands behind it, and nothing before it.
FOLDERS = (
    "cli",
    "server",
    "report",
    "compat",
    "integrations",
    "store",
    "retrieval",
    "experiments",
    "scoring",
    "results",
    "writers",
    "doors",
    "statistics",
    "naming",
    "arguments",
    "_core",
)
# The same within what is compiled.
CORE = (
    "experiments",
    "doors",
    "ranks",
    "scratch",
    "driver",
    "metrics",
    "grades",
    "rounded",
    "ids",
    "query",
    "memory",
)
AT_THE_TOP = {"__init__.py", "__main__.py", "arguments.py", "py.typed"}
COMPILED_IMPORT = re.compile(r"^ *from rankmeter\._core\.(\w+).* c?import", re.MULTILINE)
LONGEST = 600  # lines
# Of named tuples and enumerations, with an underscore so that they are no fields.
NOT_PRIVATE = {"_asdict", "_replace", "_fields", "_make", "_core"}

Modules = dict[str, ast.Module]


def modules_of(root: Path) -> Modules:
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(("rankmeter", *parts)).removesuffix(".__init__")
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def imports_of(tree: ast.Module, modules: Modules) -> Iterator[tuple[str, str]]:
    """Yield what is imported, anywhere in a module: the module, and the name in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in modules:
                    yield whole, ""
                elif node.module.split(".")[0] == "rankmeter":
                    yield node.module, alias.name


def circles(modules: Modules) -> list[str]:
    """Modules that import themselves, by way of others."""
    arrows = {name: {to for to, _ in imports_of(tree, modules)} for name, tree in modules.items()}
    found = []
    for name in modules:
        reached: set[str] = set()
        ahead = [*arrows[name]]
        while ahead:
            if (module := ahead.pop()) not in reached:
                reached.add(module)
                ahead += arrows.get(module, ())
        if name in reached:
            found.append(name)
    return found


def floor_of(module: str) -> int:
    """The higher up, the smaller; what lies in no folder stands above all."""
    folder = [*module.split("."), ""][1]
    return FOLDERS.index(folder) if folder in FOLDERS else -1


def arrows_up(modules: Modules) -> list[str]:
    return [
        f"{name} -> {to}"
        for name, tree in modules.items()
        for to, _ in imports_of(tree, modules)
        if floor_of(name) > floor_of(to)
    ]


def private_names(modules: Modules) -> list[str]:
    """Private names of other files, imported or asked of an object."""
    found = []
    for name, tree in modules.items():
        nodes = list(ast.walk(tree))
        own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        own |= {
            node.attr
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        }
        own |= NOT_PRIVATE
        asked = [
            node.attr for node in nodes if isinstance(node, ast.Attribute) and node.attr not in own
        ]
        asked += [what for module, what in imports_of(tree, modules) if what not in NOT_PRIVATE]
        found += [f"{name}: {x}" for x in asked if x.startswith("_") and not x.startswith("__")]
    return found


@pytest.fixture(scope="module")
def house() -> Modules:
    return modules_of(Path(rankmeter.__file__).parent)


def test_no_module_imports_itself(house: Modules) -> None:
    assert not circles(house)


def test_arrows_point_down(house: Modules) -> None:
    assert not arrows_up(house)


def test_private_names_stay_in_their_file(house: Modules) -> None:
    assert not private_names(house)


def test_arrows_point_down_in_what_is_compiled() -> None:
    root = Path(rankmeter.__file__).with_name("_core")
    for path in [*root.rglob("*.pxd"), *root.rglob("*.pyx")]:  # a wheel has the former alone
        here = path.relative_to(root).with_suffix("").parts[0]
        for there in COMPILED_IMPORT.findall(path.read_text("utf-8")):
            assert CORE.index(here) <= CORE.index(there), f"{path.name} -> {there}"


def test_no_module_is_too_long() -> None:
    root = Path(rankmeter.__file__).parent
    lines = {
        path: path.read_text("utf-8").count("\n")
        for path in root.rglob("*.p[yx]*")
        if path.suffix in {".py", ".pyi", ".pyx", ".pxd"}
    }
    assert not {path: n for path, n in lines.items() if n > LONGEST}


def test_the_top_holds_nothing_but_names() -> None:
    root = Path(rankmeter.__file__).parent
    there = {path.name for path in root.iterdir() if path.name != "__pycache__"}
    assert {name for name in there if (root / name).is_file()} == AT_THE_TOP
    assert there - AT_THE_TOP <= set(FOLDERS)


@pytest.mark.parametrize(
    ("check", "files", "found"),
    [
        (
            circles,
            {
                "doors/a.py": "def f():\n    from rankmeter.doors import b\n",
                "doors/b.py": "from rankmeter.doors.a import f\n",
            },
            ["rankmeter.doors.a", "rankmeter.doors.b"],
        ),
        (circles, {"doors/a.py": "import rankmeter.doors.b\n", "doors/b.py": ""}, []),
        (
            arrows_up,
            {"doors/a.py": "from rankmeter.cli.b import c\n", "cli/b.py": "c = 1\n"},
            ["rankmeter.doors.a -> rankmeter.cli.b"],
        ),
        (arrows_up, {"doors/a.py": "", "cli/b.py": "from rankmeter.doors import a\n"}, []),
        (
            arrows_up,
            {"doors/a.py": "from rankmeter import evaluate\n", "__init__.py": ""},
            ["rankmeter.doors.a -> rankmeter"],
        ),
        (
            private_names,
            {"doors/a.py": "from rankmeter.doors.b import _c\n", "doors/b.py": "_c = 1\n"},
            ["rankmeter.doors.a: _c"],
        ),
        (private_names, {"doors/a.py": "def f(x):\n    return x._y\n"}, ["rankmeter.doors.a: _y"]),
        (
            private_names,
            {"doors/a.py": "class A:\n    def __init__(self, x):\n        self._x = x._x\n"},
            [],
        ),
    ],
)
def test_what_is_looked_for_is_found(
    tmp_path: Path, check: object, files: dict[str, str], found: list[str]
) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    assert callable(check)
    assert check(modules_of(tmp_path)) == found
