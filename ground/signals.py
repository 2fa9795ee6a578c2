"""Let signals wait where one in the middle would leave things in pieces: an import, a turn of an event loop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def hold_signals_in_block(*numbers: signal.Signals) -> Iterator[None]:
    """Let signals wait for the end of a block; then they come in their order, until a handler raises.

    A handler may raise KeyboardInterrupt between any two lines: also after an event loop has taken a task from its
    queue and before it runs it. The task would never end, and who waits for all tasks, would wait for ever.

    Parameters
    ----------
    *numbers
        Signals. Python delivers them to the main thread: elsewhere, and where C code handles one, nothing is held.

    Yields
    ------
    None
    """
    is_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.getsignal(number) for number in numbers} if is_main else {}
    noted: list[int] = []
    for number, handler in handlers.items():
        if handler is not None:
            signal.signal(number, lambda number, frame: noted.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)
        for noted_number in noted:
            signal.raise_signal(noted_number)
