"""Where numbers printed in papers are, and what the rows next to them are called."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "results" / "published"
OURS = "these runs"
