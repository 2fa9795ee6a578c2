"""Write the commit into what hatchling builds, so that an installed Waver can say which one it is."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CommitHook(BuildHookInterface):  # type: ignore[misc]  # hatchling is there only while it builds
    """Put `ground/commit.txt` into wheel and sdist; an sdist without git keeps the one that it has."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file, unless the build is editable: a checkout asks git itself."""
        sys.path.insert(0, self.root)
        from ground.version import COMMIT_FILE, describe_commit

        commit = describe_commit(Path(self.root))
        if version == "editable" or not commit:
            return
        file = Path(tempfile.mkdtemp(prefix="waver-build-")) / COMMIT_FILE
        file.write_text(commit, encoding="ascii")
        build_data["force_include"][str(file)] = f"ground/{COMMIT_FILE}"
