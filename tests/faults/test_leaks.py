"""Nothing leaks, nothing takes over: hostile folders, planted modules, keys in addresses, links, escape sequences."""

import csv
import json
import socket
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load_file, save_file
from typer.testing import CliRunner

import momus
from momus import Corpus
from momus.cli.app import app
from momus.critic.registry import critic_class
from momus.critic.saved import ARRAYS_NAME, DIGESTS, JSON_NAME, _content_digest
from momus.errors import StoreError, UsageError
from momus.estimator import json_params
from momus.evidence import Axis, Chart, Series
from momus.files import file_digest, write_table
from momus.reading import building
from momus.reading.records import Row
from momus.report.figures.svg import figure_csv
from momus.report.page import write_report
from momus.report.safe import csv_text
from momus_adapters.language_models.openai import OpenAIServer, check_route

TEXTS = [f"the {a} {b} sat on the {c}." for a in ("cat", "dog", "ape") for b in ("old", "big") for c in ("mat", "hat")]


def run(*arguments):
    return CliRunner().invoke(app, [str(a) for a in arguments])


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A saved perplexity critic with its own n-gram model: it computes only."""
    folder = tmp_path_factory.mktemp("critic")
    critic_class("perplexity")().fit(Corpus.from_texts(TEXTS)).save(folder)
    return folder


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.jsonl"
    path.write_text("".join(json.dumps({"text": t}) + "\n" for t in TEXTS), encoding="utf-8")
    return path


class Server:
    """A completion server that keeps the headers of all requests."""

    def __init__(self):
        seen = self.seen = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                seen.append((self.path, dict(self.headers), asked))
                words = str(asked["prompt"]).split()
                starts = [sum(len(w) + 1 for w in words[:i]) for i in range(len(words))]
                logprobs = {"token_logprobs": [None, *[-1.0] * (len(words) - 1)], "text_offset": starts}
                payload = json.dumps({"choices": [{"text": "x", "logprobs": logprobs}]}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(payload)))
                self.end_headers()
                self.wfile.write(payload)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.server.shutdown()


def hostile(fitted, folder, **params):
    """A saved critic with other parameters, whose digests fit."""
    folder.mkdir()
    for path in fitted.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    content = json.loads((folder / JSON_NAME).read_text(encoding="utf-8"))
    content["params"].update(params)
    if params.get("scorer", "ngram") != "ngram":
        for name in ("vocabulary_", "ngrams_"):
            del content["state"][name]
        content["state"]["opened_"] = "m"
        arrays = load_file(folder / ARRAYS_NAME)
        del arrays["ngrams_"]
        save_file(arrays, folder / ARRAYS_NAME)
        content[DIGESTS]["arrays"] = file_digest(folder / ARRAYS_NAME)
    content[DIGESTS]["content"] = _content_digest(content)
    (folder / JSON_NAME).write_text(json.dumps(content), encoding="utf-8")
    return folder


# Hostile folders


def test_a_hostile_critic_sends_nothing_until_it_is_trusted(fitted, tmp_path, server, text, monkeypatch):
    monkeypatch.setenv("OTHER_SECRET", "hunter2-hunter2")
    options = {"url": server.url, "model": "m", "key": "OTHER_SECRET", "concurrency": 1}
    folder = hostile(fitted, tmp_path / "evil", scorer="openai", options=options)
    with pytest.raises(StoreError) as error:
        momus.load_critic(folder)
    for told in ("scorer.openai", server.url, "OTHER_SECRET", "trust="):
        assert told in str(error.value)
    assert isinstance(run("score", folder, text).exception, StoreError)
    elsewhere = run("score", folder, text, "--trust", tmp_path / "other")
    assert isinstance(elsewhere.exception, StoreError)
    assert server.seen == []
    done = run("score", folder, text, "--trust", folder)
    assert done.exit_code == 0, done.exception
    assert len(server.seen) == len(TEXTS)


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({"scorer": "transformers", "options": {"model": "evil/model"}}, "download"),
        ({"scorer": "kenlm", "options": {"path": "/etc/passwd"}}, "/etc/passwd"),
        ({"options": {"deep": [{"url": "ftp://h/x"}]}}, "ftp://h/x"),
        ({"options": {"loader": "os:system"}}, "import 'os:system'"),
        ({"options": {"file": "x"}}, "read 'x'"),
    ],
)
def test_adapters_paths_and_objects_need_trust(fitted, tmp_path, params, told):
    folder = hostile(fitted, tmp_path / "evil", **params)
    with pytest.raises(StoreError, match="would") as error:
        momus.load_critic(folder)
    assert told in error.value.message


def test_no_connection_while_a_folder_is_loaded_or_shown(fitted, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a connection was opened")

    options = {"url": "http://u:pw@10.0.0.1/v1", "model": "m", "key": "AWS_SECRET"}
    folder = hostile(fitted, tmp_path / "evil", scorer="openai", options=options)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(StoreError):
        momus.load_critic(folder)
    momus.load_critic(folder, trust=True)  # trusted: but loading alone still connects to nothing
    shown = run("critics", folder)
    assert shown.exit_code == 0, shown.exception
    flat = " ".join(shown.output.split())
    for told in ("scorer.openai", "http://***@10.0.0.1/v1", "AWS_SECRET", "options.key", "Perplexity"):
        assert told in flat
    assert "pw@" not in shown.output
    assert "computes only" in run("critics", fitted).output


def test_the_same_parameters_on_the_command_line_need_no_trust(fitted, tmp_path, server):
    options = {"url": server.url, "model": "m"}
    cls = critic_class("perplexity")
    folder = hostile(fitted, tmp_path / "own", scorer="openai", options=options)
    configured = cls(scorer="openai", options=options).get_params()
    assert cls.load(folder, configured=configured).opened_ == "m"
    with pytest.raises(StoreError):
        cls.load(folder, configured=cls(scorer="openai", options={**options, "model": "other"}).get_params())


# Code in the working folder


def test_modules_in_the_working_folder_are_not_run(tmp_path, text):
    for name in ("pickle", "struct", "multiprocessing", "json", "socket", "numpy"):
        (tmp_path / f"{name}.py").write_text(
            f"open({str(tmp_path / 'taken')!r}, 'a').write('{name} ')\nraise SystemExit(9)\n", encoding="utf-8"
        )
    command = ["calibrate", "--real", str(text), "--critics", "length,unigram", "--splits", "20", "--defects", "none"]
    command += ["--jobs", "2", "--out", str(tmp_path / "calibration")]
    done = subprocess.run(
        [sys.executable, "-m", "momus", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert not (tmp_path / "taken").exists(), (tmp_path / "taken").read_text()
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr


# Keys and passwords


def test_credentials_are_stored_and_told_nowhere(tmp_path, text, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["momus", "score", "http://ann:s3cret@h/v1?api_key=s4cret#m"])
    from momus.cli.options import command_line

    assert "s3cret" not in command_line()
    assert "s4cret" not in command_line()
    critic = critic_class("perplexity")(
        scorer="openai", options={"url": "https://ann:s3cret@h/v1", "api_key": "s4cret"}
    )
    assert "s3cret" not in json.dumps(json_params(critic))
    assert "s4cret" not in json.dumps(json_params(critic))
    plain = critic_class("perplexity")(options={"url": "https://ann:s3cret@h/v1"}).fit(Corpus.from_texts(TEXTS))
    plain.save(tmp_path / "critic")
    assert b"s3cret" not in (tmp_path / "critic" / JSON_NAME).read_bytes()
    assert "s3cret" not in str(UsageError("no answer from https://ann:s3cret@h/v1"))


def test_a_key_does_not_go_over_plain_http(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "s3cret-s3cret")
    monkeypatch.delenv("MOMUS_ALLOW_PLAIN_HTTP", raising=False)
    for name in ("http_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="unencrypted"):
        OpenAIServer("http://example.org/v1", "m")
    OpenAIServer("http://127.0.0.1:1/v1", "m")
    OpenAIServer("https://example.org/v1", "m")
    monkeypatch.setenv("MOMUS_ALLOW_PLAIN_HTTP", "1")
    OpenAIServer("http://example.org/v1", "m")
    monkeypatch.setenv("http_proxy", "http://proxy.example.org:3128")
    with pytest.warns(UserWarning, match=r"proxy\.example\.org"):
        check_route("http://example.org/v1", has_key=True)
    with pytest.raises(UsageError, match="not stored"):
        check_route("https://***@example.org/v1", has_key=False)


@pytest.fixture(scope="module")
def comparison():
    corpora = [Corpus.from_texts(TEXTS, name=n) for n in ("real", "=HYPERLINK(1)")]
    return momus.compare(corpora[0], {"=HYPERLINK(1)": corpora[1]}, fit=corpora[0], critics=["length"], permutations=99)


def test_a_report_does_not_follow_a_link(tmp_path, comparison):
    precious = tmp_path / "precious.txt"
    precious.write_text("mine", encoding="utf-8")
    link = tmp_path / "run" / "report.html"
    link.parent.mkdir()
    link.symlink_to(precious)
    with pytest.raises(StoreError, match="is a link"):
        write_report(comparison, link)
    assert precious.read_text(encoding="utf-8") == "mine"
    link.unlink()
    write_report(comparison, link)
    assert sorted(p.name for p in link.parent.iterdir()) == [".report.html.momus", "report.html"]


def test_large_corpora_leave_no_file_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(building, "SPILL_BYTES", 0)
    builder = building.Builder()
    for i in range(3):
        builder.add(f"d{i}", Row(f"d{i}", ["A secret text."], [None]), 14)
    table = builder.finish()
    assert table["sections"].to_pylist() == [["A secret text."]] * 3
    assert list(tmp_path.iterdir()) == []


# Terminals and spreadsheets


def test_no_escape_sequence_reaches_the_terminal(tmp_path):
    evil = "\x1b]0;owned\x07\x1b[2J\u202e"
    real = tmp_path / "real.jsonl"
    rows = [{"id": f"{evil}{i}", "text": t} for i, t in enumerate(TEXTS * 2)]
    real.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    other = tmp_path / f"other{evil}.jsonl"
    other.write_bytes(real.read_bytes().replace(b"cat", b"bat"))
    out = tmp_path / f"run{evil}"
    commands = [
        [
            "compare",
            "-f",
            real,
            "-r",
            real,
            "-g",
            f"n{evil}={other}",
            "-c",
            "length",
            "--permutations",
            "99",
            "-o",
            out,
        ],
        ["show", out, "--all"],
        ["show", out, "--markdown"],
        ["show", out, "--json"],
        ["outliers", out],
        ["show", out, "--html"],
        ["score", out / "critics" / "length", other],
        ["critics", out],
    ]
    for command in commands:
        shown = run(*command)
        assert shown.exit_code == 0, (command[0], shown.exception, shown.output + shown.stderr)
        for mark in ("\x1b", "\x07", "\u202e", "\x9b"):
            assert mark not in shown.output + shown.stderr, command[0]
    assert "\\x1b]0;owned" in run("show", out, "--html").output


def test_errors_do_not_pass_escape_sequences_on(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "momus", "score", "no\x1b[2Jcritic", "text"],
        cwd=tmp_path,
        capture_output=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 5
    assert b"\x1b" not in done.stderr
    assert b"no\\x1b[2Jcritic" in done.stderr


def test_csv_heads_are_no_formulas(tmp_path):
    table = pa.table({"id": ["a"], "=cmd|' /C calc'!A0": ["b"], "-n": [1]})
    write_table(table, tmp_path / "safe.csv")
    assert next(csv.reader((tmp_path / "safe.csv").open())) == ["id", "'=cmd|' /C calc'!A0", "'-n"]


def test_csv_holds_no_formulas(tmp_path):
    table = pa.table({"id": ["=1+1", "@x", "-2", "a", None], "nll": [-1.5, 2.0, -3.0, 0.5, None]})
    write_table(table, tmp_path / "safe.csv")
    with open(tmp_path / "safe.csv", encoding="utf-8", newline="") as file:
        safe = list(csv.reader(file))
    assert [r[0] for r in safe[1:]] == ["'=1+1", "'@x", "'-2", "a", ""]
    assert np.isclose([float(r[1] or "nan") for r in safe[1:]], [-1.5, 2.0, -3.0, 0.5, np.nan], equal_nan=True).all()
    assert csv_text(("a",), [("=1",), (-1.0,), (-2,)]) == "a\n'=1\n-1\n-2\n"
    chart = Chart("c", "c", Axis("x"), Axis("y"), [Series("=HYPERLINK(1)", [-1.0], [2.0], "real", "line")])
    assert "'=HYPERLINK(1),-1,2" in figure_csv(chart)
