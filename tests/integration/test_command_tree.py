"""The whole tree of commands: results, JSON, help, wrong usage, and next commands that work.

Every command must have a sample (command_samples.py); one without fails here.
"""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reticent.cli.examples import EXAMPLES, TRY
from reticent.queries.registry import queries
from tests.integration.command_samples import (
    AS_JSON,
    ELSEWHERE,
    JSON_SCHEMAS,
    NOT_HERE,
    SLOW,
    Sample,
    commands,
    names,
    prepared,
    sample,
)
from tests.unit.cli.conftest import Ended, invoke

HEAVY = {"numpy", "scipy", "numba", "matplotlib", "fastapi", "cryptography", "rich"}
# and pydantic, but Typer itself reads the options of a command with it
TREE = {" ".join(path): command for path, command in commands()}
RUN = [name for name in names() if name not in NOT_HERE]
QUICK = [name for name in RUN if name not in SLOW]
CHARGING = [
    name
    for name, command in TREE.items()
    if "--key" in {word for parameter in command.params for word in parameter.opts}
]
SCHEMA = re.compile(r"[a-z][a-z-]*/1")
JSON_SEEN: dict[str, str] = {}


@pytest.fixture(scope="module")
def started(tmp_path_factory) -> Path:
    """A folder as ``reticent init`` makes it."""
    folder = tmp_path_factory.mktemp("start") / "here"
    assert invoke("init", folder).code == 0
    return folder


@pytest.fixture
def folder(tmp_path, started, monkeypatch) -> Path:
    """Such a folder, to be changed, as the one where commands run; ledgers are where they fall."""
    here = tmp_path / "here"
    shutil.copytree(started, here)
    monkeypatch.chdir(here)
    for name in ("RETICENT_LEDGER", "RETICENT_DATABASE", "RETICENT_DATA"):
        monkeypatch.delenv(name, raising=False)
    return here


def ready(name: str, folder: Path) -> Sample:
    found = sample(name)
    assert found is not None, f"{name} has no example: add one to cli/examples.py"
    return prepared(folder, found, invoke)


def following(text: str) -> dict[str, str]:
    """The command after next:, and those after other hints, as printed."""
    return dict(re.findall(r"^ +([a-z][^:\n]*): (reticent .*)$", text, re.MULTILINE))


def nxt(ended: Ended) -> str:
    found = re.findall(r"^  next: (.*)$", ended.err, re.MULTILINE)
    assert len(found) == 1, ended.err
    return str(found[0])


def check_plain(ended: Ended) -> None:
    """Neither colours nor carriage returns nor tracebacks, whatever happened."""
    for stream in (ended.out, ended.err):
        assert "\x1b" not in stream
        assert "\r" not in stream
        assert "Traceback" not in stream


def check_works(command: str) -> None:
    """A command that was proposed does what it says; a check may find something."""
    first, *words = shlex.split(command)
    if first == "pip":
        return
    assert first == "reticent"
    if words[0] in (*NOT_HERE, *SLOW):  # which are run elsewhere; here their help must do
        words = [words[0], "--help"]
    again = invoke(*words)
    assert again.code in (0, 1), f"{command}: {again.err}"


def check_wrong(ended: Ended, name: str, *, codes: frozenset[int] = frozenset({2})) -> None:
    """An error as a sentence, with nothing on stdout and a next command that works."""
    check_plain(ended)
    assert ended.code in codes, (name, ended)
    if ended.code == 2:
        if name not in ("card verify",):  # which lists all files, also those that are no cards
            assert ended.out == ""
            assert ended.err.startswith(("error: ", "note: ", "caution: ")), ended.err
            assert "error: " in ended.err
        check_works(nxt(ended))


# Every command


def test_every_command_has_a_sample() -> None:
    lacking = [name for name in names() if sample(name) is None]
    assert lacking == [], "add an example to cli/examples.py, or to command_samples.py"


def test_every_example_is_of_a_command() -> None:
    assert set(EXAMPLES) <= set(names())
    for name, example in EXAMPLES.items():
        assert example.startswith(f"reticent {name}"), name


def later(names: list[str], why: dict[str, str]) -> list[object]:
    """Names as parameters; those that are run elsewhere too are of another tier here."""
    return [pytest.param(one, marks=pytest.mark.pages) if one in why else one for one in names]


@pytest.mark.parametrize("name", later(QUICK, AS_JSON | ELSEWHERE))
def test_it_runs_and_talks_on_stderr_only(name, folder) -> None:
    ended = invoke(*ready(name, folder).words)
    assert ended.code == 0, ended.err
    check_plain(ended)
    assert ended.out.strip()
    for talk in ("error: ", "note: ", "caution: ", "ledger: ", "spent ", "next: ", "warning: "):
        assert not any(line.strip().startswith(talk) for line in ended.out.splitlines()), talk


@pytest.mark.parametrize("name", later(RUN, SLOW | ELSEWHERE))
def test_with_json_stdout_is_one_object(name, folder) -> None:
    ended = invoke(*ready(name, folder).words, "--json")
    assert ended.code == 0, ended.err
    check_plain(ended)
    told = ended.json  # one object and nothing else
    assert isinstance(told, dict)
    if name in JSON_SCHEMAS:
        assert "$schema" in told
        return
    schema = told["schema"]
    assert SCHEMA.fullmatch(schema), schema
    verb, _, kind = name.partition(" ")
    alike = kind in queries() or name == "verify file"  # which may hold a query, too
    whose = f"{verb} QUERY" if alike else name  # all kinds are told alike,
    whose = "release QUERY" if name in queries() else whose  # also what is derived
    assert JSON_SEEN.setdefault(schema, whose) == whose, f"{schema} is of {JSON_SEEN[schema]} too"
    assert schema != "error/1"


@pytest.mark.parametrize("name", names())
def test_its_help_says_what_it_does_and_gives_an_example(name) -> None:
    ended = invoke(*name.split(), "--help")
    assert (ended.code, ended.err) == (0, "")
    lines = [line.strip() for line in ended.out.splitlines() if line.strip()]
    assert lines[0].startswith(f"Usage: reticent {name} ")
    assert re.match(r"[A-Z].*", lines[1]), "one sentence first"
    assert any(line.startswith(f"Example: reticent {name}") for line in lines[1:5]), lines[:5]
    assert "--json" in ended.out


def test_no_help_imports_anything_heavy() -> None:
    paths = [[*name.split(), "--help"] for name in names()]
    code = (
        "import contextlib, io, json, sys\n"
        "from reticent.cli.main import run\n"
        f"for words in {paths!r}:\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "        run(words)\n"
        f"print(json.dumps(sorted({HEAVY!r} & set(sys.modules))))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert json.loads(ended.stdout) == []


# Wrong usage


@pytest.mark.parametrize("name", names())
def test_an_option_that_is_none_is_wrong_usage(name, folder) -> None:
    for flags in ([], ["--json"]):
        ended = invoke(*name.split(), *flags, "--no-such-option")
        assert ended.code == 2
        assert nxt(ended) == f"reticent {name} --help"
        assert bool(ended.out) is bool(flags)
    told = ended.json
    assert (told["schema"], told["kind"], told["exit_code"]) == ("error/1", "error", 2)
    assert told["next"] == f"reticent {name} --help"
    assert "--no-such-option" in told["what"]


@pytest.mark.parametrize(
    "name", [n for n, c in TREE.items() if any(one.required for one in c.params)]
)
def test_what_is_missing_is_named(name, folder) -> None:
    ended = invoke(*name.split())
    assert ended.err.startswith("error: Missing ")
    check_wrong(ended, name)


def wrong_files(folder: Path, suffix: str) -> dict[str, str]:
    """Names of a file that is not there, one that is empty, one that is garbage, a directory."""
    made = {kind: f"{kind}{suffix}" for kind in ("missing", "empty", "garbage", "directory")}
    (folder / made["empty"]).write_bytes(b"")
    (folder / made["garbage"]).write_bytes(bytes(range(256)) * 4)
    (folder / made["directory"]).mkdir(exist_ok=True)
    return made


@pytest.mark.parametrize("name", QUICK)
def test_a_wrong_file_is_a_sentence(name, folder) -> None:
    found = ready(name, folder)
    given = found.inputs(folder)
    for output in found.outputs():
        if output not in given:
            (folder / output).unlink(missing_ok=True)
    for word in given:
        for kind, wrong in wrong_files(folder, "".join(Path(word).suffixes)).items():
            words = [wrong if one == word else one for one in found.words]
            codes = frozenset(found.ends.get(kind, {2}))
            check_wrong(invoke(*words), name, codes=codes)


@pytest.mark.parametrize("name", [n for n in names() if n.split()[0] in ("ledger", "gateway")])
def test_without_a_ledger_or_gateway_it_says_so(name, folder) -> None:
    if name == "gateway init":
        pytest.skip("makes one")
    found = sample(name)
    assert found is not None
    check_wrong(invoke(*found.words), name)


# Refusals


def stingy(name: str) -> tuple[str, ...]:
    """The sample with a budget that does not suffice."""
    found = sample(name)
    assert found is not None
    return (*found.words, "--total", "0.4")


def check_refusal(ended: Ended) -> None:
    check_plain(ended)
    assert (ended.code, ended.out) == (3, "")
    assert re.search(
        r"^refused: budget of .*: asked for epsilon [\d.]+, [\d.]+ is left, [\d.]+ is missing$",
        ended.err,
        re.MULTILINE,
    )
    assert "nothing was drawn and nothing was charged" in ended.err


LIMITED = [n for n in CHARGING if "--total" in {w for p in TREE[n].params for w in p.opts}]


@pytest.mark.parametrize("name", LIMITED)
def test_what_a_refusal_proposes_works_as_printed(name, folder) -> None:
    ready(name, folder)
    ended = invoke(*stingy(name))
    check_refusal(ended)
    told = invoke(*stingy(name), "--json")
    fields = told.json
    assert (told.code, fields["kind"], fields["exit_code"]) == (3, "refused", 3)
    assert fields["left"] == "0.4"
    assert float(fields["asked"]) - float(fields["missing"]) == pytest.approx(0.4)
    assert following(ended.err) == {"next": fields["next"], **following_plain(fields["others"])}
    check_all_work(ended, folder)


def following_plain(others: dict[str, str]) -> dict[str, str]:
    """The hints of JSON without the option that asked for it."""
    return {aim: command.removesuffix(" --json") for aim, command in others.items()}


def check_all_work(ended: Ended, folder: Path) -> None:
    """Everything that is proposed works from where the refusal left it; "and ..." goes on."""
    held = folder.with_name("held")
    shutil.copytree(folder, held)
    for aim, command in following(ended.err).items():
        if not aim.startswith("and "):
            shutil.rmtree(folder)
            shutil.copytree(held, folder)
            os.chdir(folder)
        again = invoke(*shlex.split(command)[1:])
        assert again.code == 0, f"{command}: {again.err}"


def test_what_a_refusal_of_two_people_proposes_works(folder) -> None:
    """Both have an account already, so both limits on record have to be raised."""
    words = (*ready("release similarity", folder).words, "--total", "1.5")
    assert invoke(*words).code == 0
    ended = invoke(*words)
    check_refusal(ended)
    aims = ["next", "to spend less", "to allow more", "and of bob", "and then"]
    assert list(following(ended.err)) == aims
    check_all_work(ended, folder)


@pytest.mark.processes
def test_what_preferences_refuse_can_be_allowed_as_printed(folder) -> None:
    found = ready("release histogram", folder)
    words = [word for word in found.words if word not in ("--card", "card.json")]
    codes = [invoke(*words).code for _ in range(3)]
    assert codes == [0, 0, 0]
    ended = invoke(*words)
    check_refusal(ended)
    assert "asked for epsilon 2, 0 is left, 2 is missing" in ended.err
    proposed = following(ended.err)
    assert list(proposed) == ["next", "to allow more, type both, 1", "and 2"]
    assert proposed["to allow more, type both, 1"].startswith("reticent prefs set ")
    assert proposed["and 2"].startswith("reticent ledger raise ")
    for command in proposed.values():
        ran = subprocess.run(["bash", "-c", command], capture_output=True, env=shell(), text=True)
        assert ran.returncode == 0, f"{command}: {ran.stderr}"
    assert invoke(*words).code == 0


def shell() -> dict[str, str]:
    """An environment in which ``reticent`` is the one under test."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.mark.parametrize("name", ["plan histogram", "release histogram", "release profile"])
def test_who_is_not_named_gets_nothing(name, folder) -> None:
    found = ready(name, folder)
    for output in found.outputs():
        (folder / output).unlink(missing_ok=True)
    words = ["other.example" if word == "club.example" else word for word in found.words]
    ended = invoke(*words)
    check_plain(ended)
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.startswith("refused: ")
    told = invoke(*words, "--json")
    assert (told.code, told.json["kind"]) == (3, "refused")
    for command in following(ended.err).values():
        check_works(command)
    assert nxt(ended).startswith("reticent prefs set ")
    assert invoke(*words).code == 0  # as it was then allowed


@pytest.mark.parametrize("name", CHARGING)
def test_without_agreement_nothing_is_spent(name, folder) -> None:
    found = ready(name, folder)
    for output in found.outputs():
        (folder / output).unlink(missing_ok=True)
    ended = invoke(*(word for word in found.words if word != "--yes"))
    check_wrong(ended, name)
    assert nxt(ended).endswith("--yes")


# Dry runs


@pytest.mark.parametrize("name", LIMITED)
def test_a_dry_run_says_if_it_would_be_refused(name, folder) -> None:
    ready(name, folder)
    dry = (*stingy(name), "--dry-run")
    ended, told = invoke(*dry), invoke(*dry, "--json")
    assert (ended.code, told.code) == (0, 0)
    if name in ("release neighbours", "release sketches"):  # who pays stands in the table
        assert told.json["allowed"] is False
        assert "would be refused: epsilon" in ended.err
        generous = (*stingy(name)[:-1], "50", "--dry-run", "--json")
        assert invoke(*generous).json["allowed"] is None
        return
    asked = invoke(*stingy(name), "--json").json
    assert told.json["allowed"] is False
    for amount in ("asked", "left", "missing"):
        assert told.json[amount] == asked[amount]
    assert f"would be refused: asked for epsilon {asked['asked']}, 0.4 is left" in ended.err
    generous = (*stingy(name)[:-1], "50", "--dry-run", "--json")
    assert invoke(*generous).json["allowed"] is True


def test_a_dry_run_knows_what_the_ledger_holds(folder) -> None:
    found = ready("release histogram", folder)
    words = [word for word in found.words if word not in ("--card", "card.json")]
    dry = (*words, "--dry-run", "--json")
    seen = []
    for _ in range(3):
        seen.append(invoke(*dry).json["allowed"])
        assert invoke(*words).code == 0
    assert (seen, invoke(*dry).json["allowed"]) == ([True] * 3, False)
    assert invoke(*words).code == 3
    again = invoke(*dry, "--key", "mine").json  # perhaps that key was answered before
    assert (again["allowed"], again["missing"]) == (None, "2")


def test_a_profile_is_noted_and_never_refused_for_its_cost(folder) -> None:
    found = ready("release profile", folder)
    assert invoke(*found.words, "--dry-run", "--json").json["allowed"] is True


# What is not installed


@pytest.mark.processes
@pytest.mark.parametrize(
    ("name", "words", "blocked"),
    [
        ("serve", ["serve", "--demo"], "fastapi"),
        ("release histogram", ["--out", "all.parquet"], "pyarrow"),
        ("compare tree", ["--plot", "tree.svg"], "matplotlib"),
    ],
)
def test_a_part_that_is_not_installed_is_named(name, words, blocked, folder) -> None:
    found = sample(name)
    assert found is not None
    typed = [word for word in found.words if word not in ("--person", "ann", "--card", "card.json")]
    typed += words if name != "serve" else []
    code = (
        "import sys\n"
        f"sys.modules[{blocked!r}] = None\n"
        "from reticent.cli.main import run\n"
        f"run({[*typed, '--json']!r})\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 4, ended.stderr
    assert "Traceback" not in ended.stderr
    assert re.search(r"^  next: pip install 'reticent\[[a-z]+\]'$", ended.stderr, re.MULTILINE)
    assert re.search(r"^  or, in a checkout: pip install '\.\[", ended.stderr, re.MULTILINE)
    told = json.loads(ended.stdout)
    assert (told["schema"], told["exit_code"]) == ("error/1", 4)
    assert told["next"].startswith("pip install ")
    assert not (folder / "reticent-ledger.db").exists()


# As a process


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="signals differ")
def test_serve_says_where_it_is_and_stops(folder) -> None:
    process = subprocess.Popen(
        ["reticent", "serve", "--demo", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=shell(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    held = ""
    while not held.endswith("\n}\n"):
        line = process.stdout.readline()
        assert line, process.communicate(timeout=60)
        held += line
    assert json.loads(held)["schema"] == "serve/1"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "Traceback" not in err


@pytest.mark.processes
@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_no_colour_on_a_terminal_that_asks_for_none(folder) -> None:
    import pty

    main_end, other_end = pty.openpty()
    environment = {**shell(), "NO_COLOR": "1", "TERM": "xterm-256color"}
    with os.fdopen(main_end, "rb", buffering=0) as terminal:
        process = subprocess.Popen(
            shlex.split(EXAMPLES["release tree"].replace("--out tree.json", "")),
            stdout=other_end,
            stderr=other_end,
            stdin=subprocess.DEVNULL,
            env=environment,
        )
        os.close(other_end)
        seen = b""
        try:
            while part := terminal.read(65536):
                seen += part
        except OSError:  # the other end is closed
            pass
        assert process.wait(timeout=60) == 0
    assert b"age below" in seen
    assert not re.search(rb"\x1b\[(3|4|9|10)\d(;\d+)*m", seen)


def test_what_start_lists_works_in_its_order(folder) -> None:
    listed = re.findall(r"^    (reticent .*)$", (folder / "START.txt").read_text(), re.MULTILINE)
    assert listed == [EXAMPLES[name] for name in TRY]
    for command in listed:
        ended = invoke(*shlex.split(command)[1:])
        assert ended.code == 0, f"{command}: {ended.err}"
