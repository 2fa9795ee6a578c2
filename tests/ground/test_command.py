"""A command that is stopped while its options are made says so in one line."""

from __future__ import annotations

import argparse

from ground.command import run_command


def test_stopped_while_the_options_are_made(capsys):
    def make_parser() -> argparse.ArgumentParser:
        raise KeyboardInterrupt

    assert run_command(["table"], "waver", make_parser, lambda _: 0, stopped_message="stopped") == 1
    assert capsys.readouterr().err == "waver: stopped\n"
