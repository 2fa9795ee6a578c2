"""Kernels that start at once: forked, as `helpers.apart` does it, where all that pages need is imported already.

Each is a process of its own, with ipykernel in it, as the report has them. `test_execution.py` and whoever calls the
command as a program have kernels that start from nothing.
"""

from __future__ import annotations

import os
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.provisioning import local_provisioner

from helpers import apart

_MODULES = ("ipykernel", "ipykernel_launcher")  # what `execution` and papermill by itself start as a kernel


class ForkedKernel:
    """A forked process, with what Jupyter wants of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        assert process.pid is not None
        self.pid = process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@contextmanager
def fork_kernels() -> Iterator[None]:
    """Let reports of this process have kernels that start at once."""
    launch = local_provisioner.launch_kernel

    def launch_quickly(call: list[str], **settings: Any) -> ForkedKernel | subprocess.Popen[bytes]:
        place = next((place for place, word in enumerate(call) if word in _MODULES), None)
        if place is None or call[0] != sys.executable:
            return launch(call, **settings)
        environment = dict(settings.get("env") or os.environ)
        process = apart.forked(_run_kernel, call[place + 1 :], environment, str(settings.get("cwd") or Path.cwd()))
        process.start()
        while os.getpgid(process.pid) != process.pid and process.is_alive():
            time.sleep(0.001)  # an interrupt goes to its group, which must not be the server's
        return ForkedKernel(process)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_provisioner, "launch_kernel", launch_quickly)
        yield


def _run_kernel(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    """Be `python -m ipykernel` with these arguments."""
    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=str(os.getppid()))
    paths = environment.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = list(dict.fromkeys([*paths, *sys.path]))
    sys.argv = ["ipykernel", *arguments]
    runpy.run_module("ipykernel", run_name="__main__", alter_sys=True)
