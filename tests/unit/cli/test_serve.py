"""``reticent serve``: starts quickly, listens here alone, ends cleanly; in a process of its own."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from reticent.cli import serve_protocol
from reticent.cli.failures import Failure
from reticent.cli.serve_place import Place, checked
from reticent.gateway import Gateway
from reticent.gateway.demo import seed

PROGRAM = """
import sys, typer
from reticent.cli import serve
from reticent.cli.failures import explain
app = typer.Typer()
app.command("serve")(serve.serve)
try:
    code = app(args=sys.argv[1:], prog_name="reticent serve", standalone_mode=False)
except Exception as error:
    code = explain(error, "reticent serve")
sys.exit(code or 0)
"""


@contextmanager
def started(*words: object, folder: Path):
    held = {name: value for name, value in os.environ.items() if name != "RETICENT_DATABASE"}
    environment = held | {"TMPDIR": str(folder)}
    command = [sys.executable, "-c", PROGRAM, *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def told_by(process):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("}"):
            return json.loads("".join(lines))
    raise AssertionError(process.stderr.read())


def get(address: str, **headers: str):
    return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10)


def refused(address: str, **headers: str) -> urllib.error.HTTPError:
    with pytest.raises(urllib.error.HTTPError) as caught:
        get(address, **headers)
    caught.value.close()
    return caught.value


@pytest.mark.processes
def test_the_demonstration_from_start_to_end(tmp_path) -> None:
    began = time.monotonic()
    with started("--demo", "--port", 0, "--json", "--log", folder=tmp_path) as process:
        told = told_by(process)
        with get(told["people"]["ann"]) as answer:
            assert answer.status == 200
            assert "server" not in answer.headers
            cookie = answer.headers["set-cookie"].split(";")[0]
        with get(told["address"] + "/", Cookie=cookie) as page:
            assert page.status == 200
            assert page.url.endswith("/me")
        assert time.monotonic() - began < 30  # two seconds on an idle machine
        assert told["schema"] == "serve/1"
        assert set(told["people"]) == {"ann", "finn"}
        asked = subprocess.run(told["example"], shell=True, capture_output=True, check=True)
        assert json.loads(asked.stdout)["kind"] == "histogram"
        assert list(tmp_path.glob("reticent-demo-*"))
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
        assert process.returncode == 0
    assert not list(tmp_path.glob("reticent-demo-*"))
    assert "stopped" in said
    assert "POST /v1/histogram 200" in said
    key = told["people"]["ann"][-64:]
    assert not any(text in said for text in (key, told["tokens"]["ads.example"], "subject", "ann"))


@pytest.fixture(scope="module")
def seeded(tmp_path_factory):
    path = tmp_path_factory.mktemp("seeded") / "own.db"
    with Gateway.open(path) as gateway:
        seed(gateway)
    return path


@pytest.fixture
def database(tmp_path, seeded):
    return shutil.copy(seeded, tmp_path / "own.db")


@pytest.mark.processes
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_its_own_database_stays(tmp_path, database, number) -> None:
    with started("--database", database, "--port", 0, "--json", folder=tmp_path) as process:
        told = told_by(process)
        assert told["people"] == told["tokens"] == {}
        with get(told["engineer"]) as answer:
            assert answer.status == 200
        process.send_signal(number)
        process.communicate(timeout=20)
        assert process.returncode == 0
    with Gateway.open(database) as gateway:
        assert gateway.session(gateway.enter(told["engineer"][-64:])).role == "engineer"


@pytest.mark.processes
def test_behind_a_proxy_no_key_is_printed(tmp_path, database) -> None:
    words = ("--database", database, "--port", 0, "--behind", "gateway.example", "--json")
    with started(*words, folder=tmp_path) as process:
        told = told_by(process)
        assert (told["address"], told["engineer"]) == ("https://gateway.example", None)
        here = f"http://127.0.0.1:{told['port']}/"
        assert refused(here).code == 400
        asked = refused(here, Host="gateway.example")
        assert asked.code == 401
        assert "strict-transport-security" in asked.headers


@pytest.mark.processes
def test_a_port_that_is_taken(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with started("--demo", "--port", port, folder=tmp_path) as process:
            out, said = process.communicate(timeout=20)
    assert (process.returncode, out) == (2, "")
    assert f"port {port} is taken" in said
    assert "next: reticent serve --demo --port 0" in said
    assert not list(tmp_path.glob("reticent-demo-*"))


@pytest.mark.processes
def test_no_gateway_there(tmp_path) -> None:
    with started("--port", 0, folder=tmp_path) as process:
        _, said = process.communicate(timeout=20)
    assert process.returncode == 2
    assert "reticent serve --demo" in said
    assert not list(tmp_path.glob("*.db"))


async def _spoken(*parts: bytes, pause: float = 0.0) -> bytes:
    """What a server with our protocol answers to these bytes, until it hangs up."""
    import uvicorn
    from uvicorn.server import ServerState

    async def app(scope, receive, send) -> None:
        told = [(b"content-length", b"2"), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 200, "headers": told})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(app, ws="none", lifespan="off", log_config=None)
    config.load()
    loop = asyncio.get_running_loop()
    state = ServerState()
    server = await loop.create_server(
        lambda: serve_protocol.PatientProtocol(config, state, {}), "127.0.0.1", 0
    )
    async with server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        for part in parts:
            writer.write(part)
            await asyncio.sleep(pause)
        answer = await asyncio.wait_for(reader.read(), 10)
        writer.close()
    return answer


HEAD = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n"


def test_a_head_in_time_is_answered() -> None:
    assert asyncio.run(_spoken(HEAD, b"x: y\r\n\r\n", pause=0.05)).endswith(b"ok")
    body = b"content-length: 40000\r\n\r\n" + b"z" * 40_000
    assert asyncio.run(_spoken(HEAD, body, pause=0.05)).endswith(b"ok")


def test_a_head_without_end_is_ended() -> None:
    lines = [b"x: " + b"y" * 997 + b"\r\n"] * 17
    assert b" 431 " in asyncio.run(_spoken(HEAD, *lines, pause=0.005))


def test_silence_and_slow_heads_are_ended(monkeypatch) -> None:
    monkeypatch.setattr(serve_protocol, "HEAD_SECONDS", 0.3)
    assert b" 408 " in asyncio.run(_spoken())
    assert b" 408 " in asyncio.run(_spoken(*[b"GET / HT", b"TP/1.1\r\nx: y"], pause=0.1))


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.7", "::", "gateway.example"])
def test_other_machines_need_tls_or_a_clear_word(host) -> None:
    with pytest.raises(Failure, match="no TLS"):
        checked(Place(host, (), False))
    checked(Place(host, ("gateway.example",), False))
    checked(Place(host, (), True))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_this_machine_is_no_danger(host) -> None:
    assert checked(Place(host, (), False)).address(1).startswith("http://")


@pytest.mark.parametrize("name", ["", "https://x.example", "x.example:443", "a b"])
def test_public_names_are_names(name) -> None:
    with pytest.raises(Failure, match="host name alone"):
        checked(Place("127.0.0.1", (name,), False))


def test_addresses() -> None:
    assert Place("0.0.0.0", (), True).address(80) == "http://127.0.0.1:80"
    assert Place("::1", (), False).address(80) == "http://[::1]:80"
    assert Place("::1", ("a.example", "b.example"), False).address(80) == "https://a.example"
    assert Place("::1", ("a.example", "b.example"), False).hosts() == ("a.example", "b.example")
    assert "[::1]" in Place("::1", (), False).hosts()
