"""A process that has imported all of brief. By `fork` it becomes the processes that tests would otherwise start anew.

A fork takes 20 ms where an interpreter that imports the whole command takes 300. What comes of it is a process like any
other: its own number, streams, folder, environment, umask, signals and exit. What cannot be tried by it is how an
interpreter starts, what a command imports, and what the environment tells Python itself.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import struct
import sys
import time
import types
from collections.abc import Iterator
from typing import Any

import msgspec

import brief

STREAMS = 3
LENGTH = struct.Struct("!I")
"""The head of a request. Its descriptors come with it: standard input, output, error, and the socket for answers."""

NUMBER = struct.Struct("!i")
"""An answer: the pid once the process runs, and later its exit status as `waitpid` gives it."""

_MOST_DESCRIPTORS = 65_536
_LATE = (
    *("apscheduler.schedulers.asyncio", "uvicorn.lifespan.off", "uvicorn.protocols.http.httptools_impl"),
    *("difflib", "wcwidth", "yaml"),
)
"""Modules that are imported only while a server or a command runs."""

Request = dict[str, Any]


def import_all() -> None:
    """Import every module of brief and what these import late. The garbage collector then skips all of it."""
    for module in pkgutil.walk_packages(brief.__path__, "brief."):
        importlib.import_module(module.name)
    for name in _LATE:
        importlib.import_module(name)
    models = importlib.import_module("brief.core.model.wire"), importlib.import_module("brief.handlers.inputs")
    for model in (*_all_below(models[0].Wire), *_all_below(models[1].Inputs)):
        msgspec.json.Decoder(model)  # else each process would build at first use what it needs
    gc.collect()
    gc.freeze()


def _all_below(model: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for below in model.__subclasses__():
        yield below
        yield from _all_below(below)


class ForkServer:
    """Forks a process for each request that comes over `control`, and reports its end to the requester."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._answers: dict[int, socket.socket] = {}
        self._reading, self._writing = os.pipe()
        for end in (self._reading, self._writing):
            os.set_blocking(end, False)

    def run(self) -> Request:
        """Serve until nobody can ask any more, and then end this process. Returns in every forked process, with its request."""
        signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, _ignore)
        signal.signal(signal.SIGINT, _ignore)  # Control-C is for the tests
        while True:
            ready, _, _ = select.select([self._control.fileno(), self._reading], [], [])
            if self._reading in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._reading, 4_096)
                self._tell_ended()
            if self._control.fileno() in ready:
                request = self._fork()
                if request is not None:
                    return request

    def _fork(self) -> Request | None:
        head, descriptors, _, _ = socket.recv_fds(self._control, LENGTH.size, STREAMS + 1)
        if not head:
            sys.exit()
        request: Request = json.loads(_receive(self._control, LENGTH.unpack(head)[0]))
        *streams, answering = descriptors
        answer = socket.socket(fileno=answering)
        pid = os.fork()
        if pid == 0:
            self._leave(streams, answer)
            return request
        for stream in streams:
            os.close(stream)
        self._answers[pid] = answer
        _send(answer, pid)
        return None

    def _leave(self, streams: list[int], answer: socket.socket) -> None:
        """Close everything of the server that a forked process must not keep."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for held in (self._control, answer, *self._answers.values()):
            held.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(STREAMS, _MOST_DESCRIPTORS)

    def _tell_ended(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if not pid:
                    return
                with self._answers.pop(pid) as answer:
                    _send(answer, status)


def _ignore(number: int, frame: types.FrameType | None) -> None:
    """A handler whose only purpose is that a signal interrupts."""


def _send(answer: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):  # the requester no longer waits
        answer.sendall(NUMBER.pack(number))


def _receive(control: socket.socket, length: int) -> bytes:
    received = bytearray()
    while len(received) < length:
        received += control.recv(length - len(received))
    return bytes(received)


def become(request: Request) -> types.CodeType:
    """Turn this process into the requested one. Returns what it is to run."""
    if request["start_new_session"]:
        os.setsid()
    os.umask(request["umask"])
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.argv[:] = request["argv"]
    sys.path[0] = ""  # as under -c
    sys.modules["__main__"] = types.ModuleType("__main__")
    return compile(request["code"], "<string>", "exec")


if __name__ == "__main__":
    import_all()
    asked = ForkServer(socket.socket(fileno=int(sys.argv[1]))).run()
    exec(become(asked), vars(sys.modules["__main__"]))
