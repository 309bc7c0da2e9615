"""Time and peak memory of scoring in shards and of comparing from them, by stage and number of documents.

Documents have 200 to 500 made words in seven titled sections (`made_text.py`). Five critics are fitted on 10,000 of
them; each stage runs in another process, whose CPU time and peak memory are measured. With more than one worker, these
are those of the driver alone; one worker does everything in the process that is measured.

    python benchmarks/speed/large.py --n 10000 50000 200000 --folder /scratch/large
    python benchmarks/speed/large.py --n 10000 --stage texts      # the same comparison in memory, by `momus.compare`
    python benchmarks/speed/large.py --models 100 --n 10000       # a hundred texts of --model-documents each
    python benchmarks/speed/large.py --models 100 --n 10000 --pairwise   # and all pairs of them
    python benchmarks/speed/large.py --repeat 20 --n 50000        # a comparison of 1,000,000, whose rows stand 20 times

Stages that are measured already are kept in FOLDER/measured.json; ``--stage`` runs one only.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import made_text

CRITICS = ("sections", "length", "unigram", "rank-frequency", "type-token")
STAGES = ("make", "fit", "real", "generated", "compare")
FITTED = 10_000


def paths(folder: Path, n: int) -> dict[str, Path]:
    """Where the texts, the shards and the run of a size are."""
    return {k: folder / str(n) / k for k in ("real.parquet", "generated.parquet", "real", "generated", "run", "texts")}


def stage(name: str, folder: Path, n: int, workers: int) -> dict[str, Any]:
    """Run one stage in this process, and return what it has to say."""
    import momus
    from momus.critic.registry import make_critics
    from momus.engine.comparing import compare_shards
    from momus.engine.scoring import score_parts

    at = paths(folder, n)
    critics = [folder / "critics" / c for c in CRITICS]
    at["run"].parent.mkdir(parents=True, exist_ok=True)
    if name == "make":
        made_text.write(at["real.parquet"], n, 1)
        made_text.write(at["generated.parquet"], n, 2, disorder=0.25)
        return {"bytes": sum(at[k].stat().st_size for k in ("real.parquet", "generated.parquet"))}
    if name == "fit":
        if not all(c.exists() for c in critics):
            fit = momus.read_corpus(made_text.write(folder / "fit.parquet", FITTED, 0))
            for critic in make_critics(CRITICS):
                critic.fit(fit).save(folder / "critics" / critic.name)
        return {}
    if name in ("real", "generated"):
        shutil.rmtree(at[name], ignore_errors=True)
        run = score_parts(critics, [at[f"{name}.parquet"]], at[name], workers=workers)
        size = sum(p.stat().st_size for p in at[name].rglob("*") if p.is_file())
        return {"documents": run.documents, "shards": len(run.shards), "bytes": size}
    if name == "compare":
        shutil.rmtree(at["run"], ignore_errors=True)
        found = compare_shards(at["real"], {"generated": at["generated"]}, out=at["run"])
        return {"seconds_by_stage": found.signature["seconds"], "verdicts": len(found.verdicts)}
    if name.startswith("repeat"):
        times = int(name.removeprefix("repeat"))
        sides = [repeated(at[side], folder / f"{n}x{times}" / side, times) for side in ("real", "generated")]
        clock = time.process_time()
        found = compare_shards(sides[0], {"generated": sides[1]})
        return {
            "seconds_by_stage": found.signature["seconds"],
            "compared_cpu_s": time.process_time() - clock,
            "documents": [c["documents"] for c in found.signature["corpora"]],
        }
    if name == "texts":
        shutil.rmtree(at["texts"], ignore_errors=True)
        texts = at["real.parquet"], {"generated": at["generated.parquet"]}
        found = momus.compare(*texts, fit=folder / "fit.parquet", critics=CRITICS, out=at["texts"])
        return {"seconds_by_stage": found.signature["seconds"], "verdicts": len(found.verdicts)}
    number = name.removeprefix("models").removesuffix("pairs")
    return models(folder, n, int(number), name.endswith("pairs"))


def repeated(source: Path, target: Path, times: int) -> Path:
    """Make a folder in which the shards of another stand several times, under other ids: for the cost of comparing."""
    import hashlib
    import io
    from dataclasses import replace

    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from momus.files import read_sealed, write_sealed
    from momus.runs.row_folder import RowFolder
    from momus.runs.row_plan import Plan

    old, new = RowFolder(source), RowFolder(target)
    if new.holds_rows():
        return target
    plan = Plan.read(old.manifest)
    files = [replace(f, file=replace(f.file, path=f"{f.file.path}-{k}")) for k in range(times) for f in plan.files]
    plan, shards = replace(plan, files=tuple(files), digest=""), len(plan)
    shutil.copytree(source / "critics", target / "critics")
    with new.locked(0):
        plan.write(new.manifest)
        for k in range(times):
            for i in range(shards):
                table = pq.read_table(old.rows(i))
                ids = pc.binary_join_element_wise(table["id"].cast(pa.string()), str(k), "-")
                content = io.BytesIO()
                table = table.set_column(0, "id", ids)
                pq.write_table(table, content, compression="zstd", dictionary_pagesize_limit=1 << 26)
                new.rows(k * shards + i).write_bytes(content.getvalue())
                record = read_sealed(old.record(i))
                rows = {"bytes": len(content.getvalue()), "sha256": hashlib.sha256(content.getvalue()).hexdigest()}
                write_sealed(
                    new.record(k * shards + i), {**record, "plan": plan.digest, "shard": k * shards + i, "rows": rows}
                )
    return target


def models(folder: Path, n: int, number: int, pairwise: bool) -> dict[str, Any]:
    """Score some small texts, and compare all with one real text from the kept rows."""
    from momus.engine.comparing import compare_shards
    from momus.engine.scoring import score_parts

    critics = [folder / "critics" / c for c in CRITICS]
    shards: dict[str, Path] = {}
    clock = time.perf_counter()
    for i in range(number):
        text, out = folder / "models" / f"{i}.parquet", folder / "models" / str(i)
        text.parent.mkdir(exist_ok=True)
        if not out.exists():
            made_text.write(text, int(os.environ["MODEL_DOCUMENTS"]), 100 + i, disorder=0.2 + 0.002 * i)
            score_parts(critics, [text], out, workers=1)
        shards[f"m{i:03}"] = out
    scored, clock = time.perf_counter() - clock, time.perf_counter()
    cpu, run = time.process_time(), folder / str(n) / f"run-{number}{'-pairs' * pairwise}"
    shutil.rmtree(run, ignore_errors=True)
    # with Holm's method, no pair of a hundred texts could differ: 24,750 rows need p-values below 2e-6
    found = compare_shards(
        paths(folder, n)["real"], shards, out=run, pairwise=pairwise, adjustment="bh" if pairwise else "holm"
    )
    return {
        "scored_s": scored,
        "compared_s": time.perf_counter() - clock,
        "compared_cpu_s": time.process_time() - cpu,
        "headlines": sum(v.headline for v in found.verdicts),
        "pairs": len(found.pairs),
        "differing_pairs": sum(v.differs for v in found.pairs),
        "page_mb": (run / "report.html").stat().st_size / 1e6,
        "seconds_by_stage": found.signature["seconds"],
    }


def measured(name: str, folder: Path, n: int, workers: int) -> dict[str, Any]:
    """Run a stage in another process, and measure it."""
    command = [sys.executable, __file__, "--inner", name, "--folder", str(folder), "--n", str(n)]
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run([*command, "--workers", str(workers)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    inner = json.loads(done.stdout.splitlines()[-1])
    return {"wall_s": time.perf_counter() - clock, "cpu_s": cpu, **inner}


def table(rows: dict[str, dict[str, Any]], sizes: list[int]) -> str:
    """The measurements as a table in Markdown."""
    lines = [
        "| documents per side | stage | wall | CPU | CPU per document | peak memory of a process |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for n in sizes:
        for name in (*STAGES[2:], "texts"):
            row = rows.get(f"{n} {name}")
            if row is None:
                continue
            documents = n if name in ("real", "generated") else 2 * n
            lines.append(
                f"| {n:,} | {name} | {row['wall_s']:.1f} s | {row['cpu_s']:.1f} s "
                f"| {1000 * row['cpu_s'] / documents:.3f} ms | {row['peak_gb']:.2f} GB |"
            )
    return "\n".join(lines)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[10_000])
    parser.add_argument("--folder", type=Path, default=Path("large-benchmark"))
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--stage", help="one of make, fit, real, generated, compare, texts")
    parser.add_argument("--models", type=int, default=0)
    parser.add_argument("--pairwise", action="store_true", help="also compare the models with each other")
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--model-documents", type=int, default=1000)
    parser.add_argument("--inner", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        result = stage(given.inner, given.folder, given.n[0], given.workers)
        used = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(json.dumps({**result, "peak_gb": max(used) / 2**20}))
        return
    given.folder.mkdir(parents=True, exist_ok=True)
    kept = given.folder / "measured.json"
    rows: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept.exists() else {}
    os.environ["MODEL_DOCUMENTS"] = str(given.model_documents)
    for n in given.n:
        asked = [f"models{given.models}{'pairs' * given.pairwise}"] * bool(given.models) + [
            f"repeat{given.repeat}"
        ] * bool(given.repeat)
        names = [given.stage] if given.stage else asked or list(STAGES)
        for name in names:
            if f"{n} {name}" not in rows or given.stage:
                rows[f"{n} {name}"] = measured(name, given.folder, n, given.workers)
                kept.write_text(json.dumps(rows, indent=1))
            print(n, name, json.dumps(rows[f"{n} {name}"]), flush=True)
    print(table(rows, given.n))


if __name__ == "__main__":
    main()
