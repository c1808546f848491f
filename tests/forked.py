"""Processes made by the fork server, with the interface of `subprocess`."""

from __future__ import annotations

import atexit
import contextlib
import inspect
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import fork_server

SOURCE = Path(__file__).resolve().parents[1]
LANGUAGE = "C.UTF-8"
"""The locale of the fork server. Python reads it only once, so a process with another locale is started anew."""


class _Client:
    """The fork server of this test process, and the connection to it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, fork_server.__file__, str(theirs.fileno())],
                env={"PATH": os.environ["PATH"], "LANG": LANGUAGE, "PYTHONPATH": str(SOURCE)},
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )

    def end(self) -> None:
        """End the fork server. The processes that it forked go on."""
        self._control.close()
        self._server.wait()

    def fork(self, request: Mapping[str, object], streams: list[int]) -> tuple[int, socket.socket]:
        """The pid of a new process, and the socket that reports its end."""
        told, telling = socket.socketpair()
        body = json.dumps(request).encode()
        with telling, self._lock:
            descriptors = [*streams, telling.fileno()]
            socket.send_fds(self._control, [fork_server.LENGTH.pack(len(body))], descriptors)
            self._control.sendall(body)
        return _number(told), told


@cache
def _client() -> _Client:
    client = _Client()
    atexit.register(client.end)
    return client


def _number(told: socket.socket) -> int:
    received = told.recv(fork_server.NUMBER.size, socket.MSG_WAITALL)
    assert received, "the fork server has ended"
    number: int = fork_server.NUMBER.unpack(received)[0]
    return number


class Forked(subprocess.Popen[str]):
    """A process that runs `code` with `words`, as `python -c` does, and has imported all of brief when it begins.

    It takes the further arguments of `Popen`: streams, `cwd`, `env`, `text`, `start_new_session`.
    """

    def __init__(self, code: str, *words: str, **named: Any) -> None:
        self._code = code
        self._told: socket.socket | None = None
        self._hearing = threading.Lock()
        super().__init__([sys.executable, "-c", code, *words], **named)

    # Popen calls these three to start a process and to hear of its end, in every version from 3.11 to 3.14.

    def _execute_child(self, *values: Any) -> None:
        asked = inspect.signature(subprocess.Popen._execute_child).bind(self, *values).arguments  # type: ignore[attr-defined] # no public name
        request = {
            "code": self._code,
            "argv": ["-c", *asked["args"][3:]],
            "cwd": os.path.abspath(asked["cwd"] or "."),
            "env": dict(os.environ if asked["env"] is None else asked["env"]),
            "umask": _umask() if asked["umask"] < 0 else asked["umask"],
            "start_new_session": asked["start_new_session"],
        }
        given = (asked["p2cread"], asked["c2pwrite"], asked["errwrite"])
        streams = [own if stream < 0 else stream for own, stream in enumerate(given)]
        try:
            self.pid, self._told = _client().fork(request, streams)
        finally:
            ends = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
            self._close_pipe_fds(*(asked[end] for end in ends))  # type: ignore[attr-defined] # no public name

    def _internal_poll(self, *_: Any, **__: Any) -> int | None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._wait(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self.returncode is None:
            assert self._told is not None
            ready, _, _ = select.select([self._told], [], [], timeout)
            if not ready:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            with self._hearing:
                if self.returncode is None:  # no other thread has heard it
                    with self._told as told:
                        self.returncode = os.waitstatus_to_exitcode(_number(told))
        return self.returncode


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_forkable(env: Mapping[str, str]) -> bool:
    """Whether the environment has the same settings for Python itself as the fork server's."""
    language = env.get("LC_ALL") or env.get("LC_CTYPE") or env.get("LANG")
    told = {name for name in env if name.startswith(("PYTHON", "LD_", "MALLOC_"))}
    return language == LANGUAGE and told <= {"PYTHONPATH"} and env.get("PYTHONPATH") in (None, str(SOURCE))
