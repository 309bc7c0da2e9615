"""Kill one command at random moments, run it again, and check what readers show: a script of `test_random_kills.py`.

Python and Momus are imported once; each command runs in a fork, which is killed by SIGKILL. Arguments: the case, the
number of kills, the seed, and the folder with texts and finished runs. It prints how many kills met a running command.
"""

import importlib.util
import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "benchmarks" / "validity"))  # pytest adds it for the module below
_spec = importlib.util.spec_from_file_location("points", Path(__file__).with_name("test_crash_points.py"))
assert _spec is not None
assert _spec.loader is not None
points = importlib.util.module_from_spec(_spec)
sys.modules["points"] = points
_spec.loader.exec_module(points)


def forked(work, after=None):
    """Do work in a fork: its result, or None if it was killed ``after`` so many seconds."""
    reader, writer = os.pipe()
    number = os.fork()
    if number == 0:
        os.close(reader)
        try:
            with open(writer, "w", encoding="utf-8") as out:
                json.dump(work(), out)
            os._exit(0)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(9)
    os.close(writer)
    if after is not None:
        time.sleep(after)
        os.kill(number, signal.SIGKILL)
    with open(reader, encoding="utf-8") as result:
        text = result.read()
    _, status = os.waitpid(number, 0)
    assert status in (0, signal.SIGKILL), f"the fork ended with status {status}"
    return json.loads(text) if status == 0 else None


def main(name, kills, seed, folder):
    import matplotlib.figure  # noqa: F401  what commands import when they run is imported once, before the forks

    import momus_people  # noqa: F401

    points.command_line()
    case, place = points.CASES[name], points.Place(Path(folder))
    root, rng = place.paths["R"], random.Random(seed)
    begun = root.with_name("begun")
    for path in (root, begun):
        shutil.rmtree(path, ignore_errors=True)
    root.mkdir()
    shown = []
    if case.before:
        assert forked(lambda: points.run(place.words(case.before))) is not None
        shown.append(forked(lambda: points.seen(case, place)))
    shutil.copytree(root, begun)
    started = time.monotonic()
    assert forked(lambda: points.run(place.words(case.command))) is not None
    seconds = time.monotonic() - started
    whole = points.contents(root)
    shown.append(forked(lambda: points.seen(case, place)))
    met = 0
    for i in range(kills):
        shutil.rmtree(root)
        shutil.copytree(begun, root)
        after = rng.uniform(0, 1.1 * seconds)
        met += forked(lambda: points.run(place.words(case.command)), after) is None
        what = f"{name}, kill {i} after {after:.3f} of {seconds:.3f} s"
        for j, output in enumerate(forked(lambda: points.seen(case, place)) or []):
            assert output is None or output in [s[j] for s in shown], f"{what}: {case.readers[j]}"
        if not (case.once and points.contents(root) == whole):
            assert forked(lambda: points.run(place.words(case.again or case.command))) is not None, what
        assert forked(lambda: points.seen(case, place)) == shown[-1], f"{what}: another result"
        assert not case.rewritten or points.contents(root) == whole, f"{what}: other files"
        assert not list(root.rglob("*.part")), f"{what}: a temporary file stays"
    print(json.dumps({"kills": kills, "met": met}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
