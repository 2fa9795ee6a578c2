"""Every block of commands on the pages runs with a checkout and its demo, or is marked: `# needs the hub and a GPU`.

That the blocks without a mark run is tried by try_blocks.py, which takes minutes; here only what costs next to nothing.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path
from shutil import which

import pytest

from helpers.blocks import DEMO, NEEDS, PROGRAMS, RUNS, Block, list_command_blocks
from helpers.commands import waver

BLOCKS = list_command_blocks()
MARKED = [block for block in BLOCKS if block.needs]
FREE = [block for block in BLOCKS if not block.needs]
MARKS = {"a GPU": 12, "a network": 23, "a server": 7, "files of yours": 70, "the hub": 27}
"""How many blocks need what. Where a page changes, so does the number: a mark is a decision."""
ABSENT = re.compile(
    r"gpt2|my-\w+|gpt-x|qwen-x|owner/name|ORG/MODEL|--engine (?:openai|vllm)|--ray auto|--pipeline |--spacy "
    r"|pip install -e|git clone|spacy download|docker |inspect eval|lm_eval "
)
"""What no checkout has: models that are named only, servers, what a network brings."""


def name_block(block: Block) -> str:
    return f"{block.page}:{block.line}"


def test_every_mark_says_one_of_the_things_that_are_needed():
    for block in BLOCKS:
        assert set(block.needs) <= set(NEEDS), name_block(block)
        assert len(re.findall(r"#\s*needs?\b", block.text)) == block.text.count("# needs "), name_block(block)


def test_the_blocks_that_need_something_are_counted():
    assert Counter(need for block in MARKED for need in block.needs) == MARKS
    assert len(FREE) > 70


def test_a_block_without_a_mark_names_nothing_that_a_checkout_lacks():
    for block in FREE:
        assert not ABSENT.search(block.text), f"{name_block(block)}: mark it, # needs {' / '.join(NEEDS)}"


def test_python_of_a_marked_block_is_python():
    for block in BLOCKS:
        if block.language == "python":
            ast.parse(block.text)


@pytest.mark.skipif(not which("bash"), reason="no bash")
def test_commands_are_those_of_a_shell():
    """What test_docs.py parses by Waver's parsers is what bash makes of the blocks: nothing is cut off or joined."""
    shell = "\n".join(block.text for block in BLOCKS if block.language == "shell")
    done = subprocess.run(["bash", "-n"], input=shell, capture_output=True, text=True, check=False)
    assert not done.stderr
    for block in BLOCKS:
        for words in block.list_commands() if block.language == "shell" else []:
            assert words[0].rpartition("/")[2] in PROGRAMS | {"mv", "perl", "tar", "done"}, name_block(block)


CHEAP = ("items", "invalid", "features")
"""Tables that take a fraction of a second on a run of the demo."""


def list_cheap_calls() -> list[tuple[str, ...]]:
    """List the calls of `waver table` without a mark that are cheap, with runs of the demo in place of the reader's."""
    calls = set()
    for block in FREE:
        for words in block.list_commands() if block.language == "shell" else []:
            if (
                words[:2] == ["waver", "table"]
                and (words[2] == "--list" or words[3] in CHEAP)
                and "--where" not in words
            ):
                words = words[: words.index(">")] if ">" in words else words
                calls.add(tuple(str(DEMO / RUNS[word]) if word in RUNS else word for word in words[1:]))
    return sorted(calls)


@pytest.mark.slow
def test_cheap_tables_are_printed(tmp_path):
    calls = list_cheap_calls()
    assert len(calls) > 4
    for words in calls:
        if words[1] == "--list" or Path(words[1]).is_dir():  # which runs there are, `make report` decides
            assert waver("analysis", *words, cwd=tmp_path).stdout.strip(), words
