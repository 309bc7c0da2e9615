"""Parts on a Ray cluster: the files of one machine, also if a node is lost on the way."""

import random
import time
from contextlib import nullcontext

import pytest

import momus
from momus.critic.registry import make_critics
from momus.engine.scoring import score_parts
from momus.engine.worker import Job
from momus.errors import StoreError, UsageError
from momus.progress import Silent, reporting
from momus.rows.store import StoredText

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow
WORDS = ["the", "of", "rain", "house", "hill", "town", "and", "river", "light"]


@pytest.fixture
def place(tmp_path):
    rng = random.Random(0)
    lines = ['{"text": "' + " ".join(rng.choices(WORDS, k=rng.randint(5, 300))) + '"}' for _ in range(3000)]
    (tmp_path / "text.jsonl").write_text("\n".join(lines) + "\n")
    corpus = momus.read_corpus(tmp_path / "text.jsonl")
    for critic in make_critics(["unigram", "length"]):
        critic.fit(corpus).save(tmp_path / critic.name)
    return tmp_path


@pytest.fixture
def cluster():
    """Three nodes on this machine, each with its own processes."""
    import os

    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    options = {"num_cpus": 1, "object_store_memory": 100_000_000, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=options)
    del options["include_dashboard"]
    nodes = [cluster.add_node(**options) for _ in range(2)]
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


def files(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def arguments(place):
    return [place / "unigram", place / "length"], [place / "text.jsonl"]


def test_a_node_killed_midway_loses_and_doubles_nothing(place, cluster):
    nodes_of, nodes = cluster
    score_parts(*arguments(place), place / "here", part_size=50)
    lost = []

    def advance(done):
        if done >= 15 and not lost:
            nodes_of.remove_node(nodes[0], allow_graceful=False)
            lost.append(done)

    reporter = Silent()
    reporter.stage = lambda label, total=None: nullcontext(advance)
    with reporting(reporter):
        run = score_parts(
            *arguments(place), place / "there", part_size=50, engine="ray", address=nodes_of.address, workers=3
        )
    assert lost
    assert lost[0] < len(run.done) == 60
    assert run.documents == 3000
    assert files(place / "there") == files(place / "here")
    ids = list(StoredText(place / "there", "real").labels[0])
    assert len(ids) == len(set(ids)) == 3000


def test_nothing_that_can_be_scheduled_is_said_in_words(place, cluster):
    from momus_adapters.ray_engine import RayEngine

    nodes_of, _ = cluster
    ray.init(address=nodes_of.address, log_to_driver=False)

    @ray.remote(num_cpus=1)
    def busy():
        time.sleep(600)

    others = [busy.remote() for _ in range(3)]
    deadline = time.monotonic() + 60
    while ray.available_resources().get("CPU", 0) and time.monotonic() < deadline:
        time.sleep(0.2)
    score_parts(*arguments(place), place / "out", part_size=1000)
    with pytest.raises(StoreError, match=r"no worker could be started within 3 s: the cluster has 3 CPUs, 0 of them"):
        list(RayEngine(Job(place / "out"), 2, nodes_of.address, start_seconds=3).run([0, 1]))
    for task in others:
        ray.cancel(task, force=True)


def test_a_cluster_on_this_machine_writes_the_same_files(place):
    score_parts(*arguments(place), place / "here", part_size=500)
    score_parts(*arguments(place), place / "there", part_size=500, engine="ray", workers=1)
    assert files(place / "there") == files(place / "here")
    assert not ray.is_initialized()


def test_a_missing_cluster_and_a_missing_engine_are_named(place):
    with pytest.raises(UsageError, match="no Ray cluster"):
        score_parts(*arguments(place), place / "out", engine="ray", address="127.0.0.1:1")
    with pytest.raises(UsageError, match="address="):
        score_parts(*arguments(place), place / "out", address="127.0.0.1:1", resume=True)
