"""What the README prints runs as printed."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def test_python_blocks_run_in_order(capsys):
    space: dict = {"__name__": "readme"}
    for block in BLOCKS:
        exec(compile(block, "README.md", "exec"), space)
    printed = capsys.readouterr().out
    assert "length of words" in printed
    assert "like-real" in printed
    assert "beyond human variation" in printed


def test_the_critic_is_some_twenty_lines():
    critic = next(b for b in BLOCKS if "class WordLength" in b)
    assert len([line for line in critic.splitlines() if line.strip()]) <= 22


def test_commands_exist():
    from typer.main import get_command

    from momus.cli.app import app

    named = set(re.findall(r"^momus (\w+)", README, flags=re.MULTILINE))
    assert named
    assert named <= set(get_command(app).list_commands(None))
