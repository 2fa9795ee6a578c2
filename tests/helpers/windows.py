"""Imitate what Windows refuses, as far as a run folder and a report meet it.

There are no POSIX modules, a folder cannot be opened, a descriptor that only reads cannot be flushed, and a file that
is open can be neither removed nor replaced. What else Windows does is not imitated.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
from types import ModuleType
from typing import Any

POSIX = ("fcntl", "grp", "pwd", "resource", "termios", "_posixsubprocess")
_opened: dict[int, tuple[str, int]] = {}  # descriptor -> path and flags, of those that `os.open` opened
_locked: dict[int, int] = {}  # descriptor -> inode


def imitate() -> None:
    """Take away what Windows has not, before anything of Waver is imported."""
    sys.modules.update(dict.fromkeys(POSIX))  # type: ignore[arg-type]
    msvcrt = ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.locking = 2, _locking  # type: ignore[attr-defined]
    sys.modules["msvcrt"] = msvcrt
    del os.O_NOFOLLOW
    shutil._use_fd_functions = False  # type: ignore[attr-defined]  # it removes by path where folders cannot be opened
    real = {name: getattr(os, name) for name in ("open", "close", "fsync", "unlink", "replace", "rename")}

    def opening(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        descriptor: int = real["open"](path, flags, *more, **named)
        _opened[descriptor] = (os.path.abspath(path), flags)
        return descriptor

    def closing(descriptor: int) -> None:
        _opened.pop(descriptor, None)
        _locked.pop(descriptor, None)
        real["close"](descriptor)

    def flushing(descriptor: int) -> None:
        if _opened.get(descriptor, ("", os.O_RDWR))[1] & 3 == os.O_RDONLY:
            raise OSError(errno.EBADF, "Bad file descriptor")
        real["fsync"](descriptor)

    def unless_open(name: str) -> Any:
        def change(*paths: Any, **named: Any) -> Any:
            for path in paths:
                if os.path.abspath(path) in {opened for opened, _ in _opened.values()}:
                    raise PermissionError(errno.EACCES, "it is open", str(path))
            return real[name](*paths, **named)

        return change

    def renaming(source: Any, target: Any) -> None:
        if os.path.exists(target):
            raise FileExistsError(errno.EEXIST, "File exists", str(target))
        unless_open("rename")(source, target)

    os.open, os.close, os.fsync, os.rename = opening, closing, flushing, renaming  # type: ignore[assignment]
    os.unlink, os.replace = unless_open("unlink"), unless_open("replace")
    os.remove = os.unlink


def _locking(descriptor: int, mode: int, length: int) -> None:
    inode = os.fstat(descriptor).st_ino
    if inode in _locked.values():
        raise PermissionError(errno.EACCES, "Permission denied")
    assert (mode, length) == (2, 1) and stat.S_ISREG(os.fstat(descriptor).st_mode)
    _locked[descriptor] = inode
