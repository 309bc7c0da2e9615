"""The work of one process: fitted critics in memory, and parts scored one after the other."""

from __future__ import annotations

import io
from hashlib import sha256
from typing import Any

import pyarrow.parquet as pq

from momus.critic import Critic, Scores
from momus.critic.registry import load_critic
from momus.engine.interface import Done, Job, done_of
from momus.evidence import to_json
from momus.reading.parts import read_part
from momus.runs.examples import find_outliers
from momus.runs.packing import pack
from momus.runs.row_folder import RowFolder, synced, write_record
from momus.runs.row_plan import Plan
from momus.runs.summaries import summary_to_json
from momus.text.corpus import Corpus

KEPT = 5
"""Outliers per critic that a shard keeps with their text and marks."""


class PartScorer:
    """Scores shards of a folder; critics are loaded once.

    Raises
    ------
    StoreError
        A critic or the manifest cannot be read.
    """

    def __init__(self, job: Job) -> None:
        self.folder = RowFolder(job.folder)
        self.plan = Plan.read(self.folder.manifest)
        self.digest = self.plan.digest
        self.critics = [
            load_critic(self.folder.critic(name), trust=name in job.trusted).to(job.device)
            for name in self.plan.critics
        ]

    def score(self, shard: int) -> Done:
        """Score one part, and write its rows and then its record.

        Raises
        ------
        MomusError
            The part cannot be read or scored, or the disk is full.
        """
        planned, part = self.plan.part(shard)
        first = part is None or part.before == 0
        corpus = read_part(planned.file, part, self.plan.reading, check=first)
        scored = {critic.name: critic.score(corpus) for critic in self.critics}
        rows = io.BytesIO()
        table = pack(corpus, scored)
        pq.write_table(table, rows, compression="zstd", dictionary_pagesize_limit=1 << 26, write_statistics=False)
        content = rows.getbuffer()
        with synced(self.folder.rows(shard)) as temporary:
            temporary.write_bytes(content)
        record = {
            "plan": self.digest,
            "shard": shard,
            "documents": len(corpus),
            "characters": int(corpus.characters.sum()),
            "rows": {"bytes": len(content), "sha256": sha256(content).hexdigest()},
            "critics": {c.name: _of_critic(c, corpus, scored[c.name]) for c in self.critics},
        }
        write_record(self.folder.record(shard), record)
        return done_of(record)


def _of_critic(critic: Critic[Any], corpus: Corpus, scores: Scores) -> dict[str, Any]:
    return {
        "unscored": dict(sorted(scores.unscored.items())),
        "fitted_on": critic.overlap(corpus),
        "nats": float(scores.nll[scores.scored].sum()),
        "steps": int(scores.steps.sum()),
        "summary": summary_to_json(scores.summary, scores.rows),
        "outliers": [to_json(o) for o in find_outliers(critic, corpus, scores, KEPT)],
    }
