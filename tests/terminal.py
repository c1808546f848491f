"""Run a command in a terminal of a given size."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios

from sandbox import Lab


def in_terminal(lab: Lab, *args: str, columns: int) -> str:
    """Return what `majordomus` prints to a terminal with this many columns. 0 means that the width is unknown."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    argv = [sys.executable, "-m", "brief", *args]
    with subprocess.Popen(argv, cwd=lab.repo, env=lab.env, stdin=theirs, stdout=theirs) as command:
        os.close(theirs)
        printed = b""
        try:
            while piece := os.read(ours, 65_536):
                printed += piece
        except OSError:
            pass  # this is how a terminal says that nobody writes to it any more
        assert command.wait() == 0
    os.close(ours)
    return printed.decode().replace("\r\n", "\n")
