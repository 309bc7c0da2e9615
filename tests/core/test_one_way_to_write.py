"""No function opens a file for writing, renames or deletes but those of `momus.outputs`."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = (
    *("core/momus", "critics/momus_critics", "adapters/momus_adapters"),
    *("examples/generating/momus_generating", "examples/people/momus_people"),
    *("examples/preparing/momus_preparing", "examples/training/momus_training"),
)
MODULES = {"core/momus/outputs.py", "core/momus/locking.py"}
"""Modules that write: all outputs, and lock files, which outputs need."""
CHANGES = {
    *("write_text", "write_bytes", "unlink", "rmdir", "mkdir", "makedirs", "touch", "symlink_to", "hardlink_to"),
    *("rename", "renames", "remove", "removedirs", "rmtree", "copy2", "copyfile", "copytree", "copymode", "move"),
    *("chmod", "chown", "utime", "truncate", "link", "symlink", "mkstemp", "mkdtemp", "NamedTemporaryFile", "mkfifo"),
}
"""Methods of paths, and functions of os, shutil and tempfile, that change a disk."""
LIBRARIES = {
    *("write_table", "ParquetWriter", "write_csv", "to_csv", "to_json", "to_parquet", "to_pickle", "save_file"),
    *("savefig", "output_stream", "tofile", "savez", "EventFileWriter", "FileWriter"),
}
"""Functions of libraries that write to a path; they get a temporary one of `momus.outputs`."""
PLAIN = {"save_file", "EventFileWriter"}
"""Those of `LIBRARIES` that are called without the name of a module."""
GIVEN = {
    "core/momus/engine/worker.py": "to a buffer in memory",
    "core/momus/outliers/records.py": "to the temporary paths that `writers` gives",
    "examples/preparing/momus_preparing/pipeline.py": "to the temporary path that `prepare` gives",
    "examples/training/momus_training/services.py": "a new event file under a name of TensorBoard's own",
    "core/momus/conformance/verdict.py": "to a temporary folder",
    "core/momus/text/tokens.py": "to a temporary file without a name",
}
"""Modules that call `LIBRARIES` outside of a ``with replacing(…)``, and where their output goes."""
SAFE = {"replacing", "replacing_own", "new_folder"}
"""Contexts that give a temporary path."""


def name_of(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def owner_of(call):
    """What a method is called on, as source; empty for a function."""
    return ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def writes(call):
    """Why a call changes the disk by itself; empty if it does not."""
    name, owner = name_of(call), owner_of(call)
    words = [ast.unparse(a) for a in (*call.args, *(k.value for k in call.keywords))]
    if name in ("open", "fdopen"):
        if any("devnull" in word for word in words) or words[:1] in (["1"], ["2"]):  # nowhere, or a standard stream
            return ""
        modes = [w.strip("'") for w in words if w.startswith("'")]
        flags = any(flag in word for word in words for flag in ("O_WRONLY", "O_RDWR", "O_CREAT"))
        return "open" if flags or any(set(m) <= set("rwxabt+") and set(m) & set("wxa+") for m in modes) else ""
    if name == "memmap" and any("+" in w for w in words):
        return "memmap"
    if name == "replace" and len(call.args) == 1 and not call.keywords:
        return "replace"
    if name == "replace" and owner == "os":
        return "os.replace"
    if name in CHANGES and owner not in ("", "self", "outputs"):
        module = owner in ("os", "shutil", "tempfile")
        # methods of lists, sets and tables have some of these names: there they take what no path takes
        other = name in ("remove", "rename", "move", "link", "copy2", "truncate") and not module
        return "" if other and not (name == "rename" and len(call.args) == 1) else name
    return ""


def findings(tree):
    """(line, what, by a library) of each call that changes the disk, but in a path that a safe context has given."""

    def visit(node, given):
        if isinstance(node, ast.With):
            calls = [c for item in node.items for c in ast.walk(item.context_expr) if isinstance(c, ast.Call)]
            if any(name_of(c) in SAFE for c in calls):
                given = given | {ast.unparse(item.optional_vars) for item in node.items if item.optional_vars}
        if isinstance(node, ast.Call) and not given & {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}:
            if why := writes(node):
                yield node.lineno, why, False
            elif name_of(node) in LIBRARIES and node.args and (owner_of(node) or name_of(node) in PLAIN):
                yield node.lineno, name_of(node), True
        if isinstance(node, ast.ImportFrom) and node.module in ("os", "shutil", "tempfile"):
            yield from ((node.lineno, n.name, False) for n in node.names if n.name in CHANGES | {"replace", "open"})
        for child in ast.iter_child_nodes(node):
            yield from visit(child, given)

    return list(visit(tree, frozenset()))


def modules():
    return [p for room in ROOMS for p in sorted((ROOT / room).rglob("*.py"))]


def test_nothing_else_writes():
    wrong, used = [], set()
    for path in modules():
        name = path.relative_to(ROOT).as_posix()
        if name in MODULES:
            continue
        for line, what, library in findings(ast.parse(path.read_text(encoding="utf-8"))):
            if (library and name in GIVEN) or (name, what) == ("core/momus/text/tokens.py", "memmap"):
                used.add(name)
            else:
                wrong.append(f"{name}:{line} {what}")
    assert not wrong, "\n".join(wrong)
    assert used == set(GIVEN), "exceptions that are not needed any more"


WRITING = [
    "open(path, 'w')",
    "open(path, mode='ab')",
    "path.open('r+b')",
    "os.open(path, os.O_WRONLY | os.O_CREAT)",
    "path.write_text(text)",
    "temporary.replace(path)",
    "os.replace(a, b)",
    "path.rename(other)",
    "shutil.rmtree(folder)",
    "shutil.copyfile(a, b)",
    "folder.mkdir(parents=True)",
    "path.unlink()",
    "tempfile.mkstemp()",
    "pq.write_table(table, path)",
    "figure.savefig(path)",
    "np.memmap(file, int, 'r+')",
    "from shutil import rmtree",
]
READING = [
    "open(path)",
    "path.open('rb')",
    "text.replace('a', 'b')",
    "replace(settings, seed=1)",
    "frame.rename(columns={})",
    "names.remove(name)",
    "os.open(os.devnull, os.O_WRONLY)",
    "tempfile.TemporaryDirectory()",
    "f'{a}'.join(b)",
]


@pytest.mark.parametrize("source", WRITING)
def test_a_call_that_writes_is_found(source):
    assert findings(ast.parse(source))
    assert findings(ast.parse(f"with replacing(other) as given:\n    {source}")), "it writes to another path"


@pytest.mark.parametrize("source", [w.replace("path", "given") for w in WRITING if "path" in w])
def test_a_call_that_writes_to_a_path_of_the_module_is_none(source):
    assert not findings(ast.parse(f"with open(a) as b, replacing(path) as given:\n    {source}"))


@pytest.mark.parametrize("source", READING)
def test_a_call_that_reads_is_not(source):
    assert not findings(ast.parse(source))
