"""Servers that never finish: the deadline of an answer holds in its headers and in its content."""

import socket
import threading
import time

import httpx
import pytest

from momus.limits import Limits
from momus_adapters.language_models.openai import Connections, Failed

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
BODY = b'{"choices": [{"text": "x", "finish_reason": "stop"}]}'
WHOLE = HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY
ANSWERS = {
    "nothing": (b"", b""),
    "status line": (b"", b"HTTP/1.1 200 OK" + b" " * 10_000),
    "one header": (HEAD + b"x: ", b"y" * 10_000),
    "many headers": (HEAD, b"a: b\r\n" * 10_000),
    "content": (HEAD + b"content-length: 10000\r\n\r\n", b" " * 10_000),
    "chunks": (HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 10_000),
}
"""What a server sends at once, and what it then sends byte by byte."""


@pytest.fixture
def serve():
    """Start a server on a socket of its own: its answers to successive requests, and the seconds between two bytes."""
    servers = []
    accepted = []

    def start(*answers, pause=0.02):
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)
        left = list(answers)

        def answer(connection):
            with connection:
                try:
                    while request := connection.recv(65536):
                        if not request.endswith(b"}"):  # the headers alone
                            continue
                        at_once, slowly = left.pop(0) if len(left) > 1 else left[0]
                        connection.sendall(at_once)
                        for i in range(len(slowly)):
                            connection.sendall(slowly[i : i + 1])
                            time.sleep(pause)
                except OSError:  # the client has left
                    pass

        def accept():
            try:
                while True:
                    connection, _ = server.accept()
                    accepted.append(connection)
                    threading.Thread(target=answer, args=(connection,), daemon=True).start()
            except OSError:  # the test is over
                pass

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{server.getsockname()[1]}/v1"

    start.accepted = accepted
    yield start
    for server in servers:
        server.close()


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_that_drips_ends_at_the_deadline(kind, serve):
    """Bytes come every 20 ms, so no timeout between two bytes ends the answer (but that of a server that is silent)."""
    started = time.monotonic()
    limits = Limits(answer=1000, answer_seconds=0.3)
    with pytest.raises((Failed, httpx.ReadTimeout), match=r"took longer than|^$"):
        Connections({}, timeout=5).post(serve(ANSWERS[kind]), {}, limits)
    assert 0.25 < time.monotonic() - started < 3


def test_connections_are_kept_and_end_with_a_failure(serve):
    connections, limits = Connections({}, timeout=5), Limits(answer=1000, answer_seconds=5)
    url = serve((WHOLE, b""))
    for _ in range(3):
        assert connections.post(url, {}, limits).content == BODY
    assert len(serve.accepted) == 1
    with pytest.raises(Failed, match="larger than"):
        connections.post(url, {}, Limits(answer=10))
    assert connections.post(url, {}, limits).status == 200
    assert len(serve.accepted) == 2
