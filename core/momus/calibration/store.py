"""What a calibration leaves in its folder: calibration.json, rates.parquet, p_values.parquet, report.html."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from momus.calibration.plan import NULL
from momus.calibration.rates import curves, detectable, family_wise, rows
from momus.calibration.view import own
from momus.comparison.folder import REPORT
from momus.errors import StoreError
from momus.files import write_json

if TYPE_CHECKING:
    from momus.calibration.calibrate import Calibration

CALIBRATION, RATES, P_VALUES = "calibration.json", "rates.parquet", "p_values.parquet"


def write_calibration(found: Calibration, folder: Path) -> None:
    """Write all files; each appears whole or not at all.

    Raises
    ------
    StoreError
        The folder cannot be written.
    """
    from momus.calibration.page import render_calibration

    try:
        _write_table(pa.Table.from_pylist(rows(found.cells, found.plan.alpha), schema=RATE_SCHEMA), folder / RATES)
        _write_table(p_values(found), folder / P_VALUES)
        page = folder / f"{REPORT}.part"
        page.write_text(render_calibration(found), encoding="utf-8")
        page.replace(folder / REPORT)
        write_json(folder / CALIBRATION, as_json(found))
    except OSError as error:
        raise StoreError(f"{folder}: cannot be written ({error.strerror})", hint="name another --out") from error


RATE_SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("critic", "statistic", "defect")),
        ("strength", pa.float64()),
        *((name, pa.int64()) for name in ("n_real", "n_generated", "splits", "tested", "alarms")),
        *((name, pa.float64()) for name in ("rate", "low", "high", "mean_difference")),
        *((name, pa.int64()) for name in ("changed", "places", "usable")),
        ("reason", pa.string()),
    ]
)


def p_values(found: Calibration) -> pa.Table:
    """One row for each split of each cell: p and difference."""
    columns: dict[str, list[Any]] = {n: [] for n in ("critic", "defect", "strength", "n_real", "n_generated", "split")}
    p, difference = [], []
    for c in found.cells:
        for name in ("critic", "defect", "strength", "n_real", "n_generated"):
            columns[name] += [getattr(c, name)] * len(c.p)
        columns["split"] += list(range(len(c.p)))
        p += list(c.p)
        difference += list(c.difference)
    return pa.table({**columns, "p": pa.array(p, pa.float64()), "difference": pa.array(difference, pa.float64())})


def _write_table(table: pa.Table, path: Path) -> None:
    part = path.with_name(path.name + ".part")
    pq.write_table(table, part, compression="zstd")
    part.replace(path)


def as_json(found: Calibration) -> dict[str, Any]:
    """The summary: plan, rates, smallest strengths, family-wise rates, signature."""
    plan = found.plan
    smallest = []
    for (critic, size, defect), curve in curves(found.cells).items():
        if defect != NULL:
            d = detectable(curve, plan.alpha, plan.power)
            where = {"critic": critic, "defect": defect, "own_axis": own(critic, defect)}
            smallest.append({**where, "n_real": size[0], "n_generated": size[1], **asdict(d)})
    families = []
    for size in dict.fromkeys((c.n_real, c.n_generated) for c in found.cells):
        r, critics = family_wise(found.cells, plan.alpha, size)
        if critics:
            families.append({"n_real": size[0], "n_generated": size[1], "critics": critics, **asdict(r)})
    return {
        "plan": asdict(plan),
        "critics": found.critics,
        "rates": rows(found.cells, plan.alpha),
        "detectable": smallest,
        "family_wise": families,
        "signature": found.signature,
    }
