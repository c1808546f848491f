"""The command `majordomus`: first the fast path, then the whole command if the fast path has no answer."""

from __future__ import annotations

import os
import sys

from brief.fastpath.main import expand, run
from brief.fastpath.output import FAILED, print_error_line, stop_output

TYPE_CHECKING = False
if TYPE_CHECKING:  # the fast path must not pay for typing
    from collections.abc import Callable
    from typing import NoReturn

    from brief.fastpath.hook import Call

INTERRUPTED = 130


def main() -> int:
    """Run the command with the arguments of this process. Returns the exit code."""
    words = expand(sys.argv[1:])
    if words[:2] == ["hook", "wake"]:
        from brief.fastpath.waiting import scope_of, wait  # noqa: PLC0415 - nothing else needs it

        scope = scope_of(words[2:])
        if scope is not None:
            return wait(scope, _accept)
    if words[:1] == ["hook"] and not {"-h", "--help"}.intersection(words):
        from brief.fastpath.hook import run_hook  # noqa: PLC0415 - a brief needs none of it

        return run_hook(words[1:], _compose_alone, _load_hook)
    if sys.stdout is None:
        print_error_line("standard output is closed, so nothing was done; open it, or send it to /dev/null")
        return FAILED
    try:
        code = run(words, _load_composer, _accept)
        if code is None:
            code = _load_whole()(words)
        sys.stdout.flush()
    except OSError as fault:
        return stop_output(fault)
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _accept(common_dir: str, root: str) -> bool:
    from brief.git.ownership import accept_by_git  # noqa: PLC0415 - only in a git folder of another user

    return accept_by_git(common_dir, root)


def _load_whole() -> Callable[[list[str]], int]:
    _collect_no_garbage()
    from brief.cli.main import main as whole  # noqa: PLC0415 - the fast path must not pay for it

    return whole


def _collect_no_garbage() -> None:
    """The process ends before its garbage matters, and looking for some while modules load takes a tenth of its time."""
    import gc  # noqa: PLC0415 - the fast path makes too little of it

    gc.disable()


def _load_composer() -> None:
    _load_whole()
    from brief.cli import projection  # noqa: F401, PLC0415 - what answers where the server stays silent


def _load_hook() -> Callable[[Call, str], tuple[str, Callable[[], object]]]:
    _collect_no_garbage()
    from brief.cli.hook import compose_alone  # noqa: PLC0415 - the fast path must not pay for it

    return compose_alone


def _compose_alone(call: Call, absence: str) -> tuple[str, Callable[[], object]]:
    return _load_hook()(call, absence)


def run_command() -> NoReturn:
    """Run the command as a process of its own, and end the process."""
    os.umask(os.umask(0o022) | 0o022)  # nothing that is made may be written by others
    code = main()
    git = sys.modules.get("brief.git.command")
    if git is not None:
        git.end_all()
    # All is written and closed: taking the interpreter apart would take longer than a question to the server does.
    os._exit(code)


if __name__ == "__main__":
    run_command()
