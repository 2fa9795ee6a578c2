"""Import large packages whole: after an interrupt in the middle, a process cannot import PyTorch or NumPy again."""

from __future__ import annotations

import signal
import sys
import threading
from importlib import import_module
from types import ModuleType


def import_without_interruption(name: str) -> ModuleType:
    """Import a module; Ctrl-C, and *Interrupt kernel* of a notebook, wait for the end of it.

    Python forgets a module whose import was interrupted, but not what its C code has registered already: the next
    import of PyTorch or NumPy fails, or ends the process: in a notebook, all that the user has computed is lost then.
    """
    handler = signal.getsignal(signal.SIGINT)
    if name in sys.modules or handler is None or threading.current_thread() is not threading.main_thread():
        return import_module(name)
    noted: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: noted.append(number))
    try:
        module = import_module(name)
    finally:
        signal.signal(signal.SIGINT, handler)
    if noted:
        signal.raise_signal(signal.SIGINT)
    return module
