"""Scores in shards: large texts scored part by part, resumed after any interruption, and compared in bounded memory."""

from momus.shards.comparing import compare_shards, is_shard_folder
from momus.shards.engine import Done, Job
from momus.shards.scoring import ShardRun, score_shards

__all__ = ["Done", "Job", "ShardRun", "compare_shards", "is_shard_folder", "score_shards"]
