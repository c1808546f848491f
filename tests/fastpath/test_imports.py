from __future__ import annotations

import re
import subprocess
import sys

import pytest

from sandbox import Lab

OURS = {
    "brief",
    "brief.__main__",
    "brief.fastpath",
    "brief.fastpath.ask",
    "brief.fastpath.jsontext",
    "brief.fastpath.lease",
    "brief.fastpath.locate",
    "brief.fastpath.main",
    "brief.fastpath.output",
    "brief.fastpath.proof",
}
STANDARD = {"__future__", "_json", "_sha2", "_sha256", "_socket", "errno"}
ONLY_COMMAND = {"brief.fastpath.arguments", "brief.fastpath.command_table"}
ONLY_STATUSLINE = {"brief.fastpath.client", "brief.fastpath.statusline", "select"}
ONLY_HOOK = {"brief.fastpath.client", "brief.fastpath.hook", "select"}
PUBLIC = ("hashlib", "json", "signal", "socket")
DIGESTS = ("sha2", "sha256")

LOADED = "import sys; sys.stderr.write(' '.join(sys.modules))"
CALL = "import sys; from brief.__main__ import main; code = main(); {loaded}; sys.exit(code)"
WITHOUT_C = (
    f"import sys, {', '.join(PUBLIC)}; sys.modules.update({dict.fromkeys('_' + name for name in (*PUBLIC, *DIGESTS))}); "
    "from brief.__main__ import main; sys.exit(main())"
)


def loaded(lab: Lab, code: str, *words: str) -> set[str]:
    """The modules that an interpreter holds after `code`."""
    return set(ran(lab, code, *words).stderr.decode().split())


def printed(lab: Lab, code: str, *words: str) -> bytes:
    """The output of `code` without the moment at which it was composed. Standard error must be empty."""
    done = ran(lab, code, *words)
    assert done.stderr == b""
    return re.sub(rb"\d\d:\d\d:\d\dZ", b"", done.stdout)


def ran(lab: Lab, code: str, *words: str) -> subprocess.CompletedProcess[bytes]:
    """An interpreter that ran `code` well, as a process of its own."""
    argv = [sys.executable, "-c", code, *words]
    return subprocess.run(argv, cwd=lab.repo, env=lab.env, input=b"{}", capture_output=True, check=True)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        (("brief", "--line"), ONLY_COMMAND),
        (("peers", "list"), ONLY_COMMAND),
        (("statusline",), ONLY_STATUSLINE),
        (("hook", "stop"), ONLY_HOOK),
    ],
)
def test_what_the_fast_path_imports(served: Lab, words: tuple[str, ...], more: set[str]) -> None:
    """Every prompt and every refresh pay for these modules and for no other."""
    bare = loaded(served, LOADED)
    added = loaded(served, CALL.format(loaded=LOADED.removeprefix("import sys; ")), *words) - bare
    ours = {name for name in added if name.partition(".")[0] == "brief"}
    assert ours == OURS | {name for name in more if name.startswith("brief")}
    assert added - ours <= STANDARD | more


@pytest.mark.parametrize("words", [("brief", "--line"), ("statusline",), ("hook", "session-start")], ids=" ".join)
def test_python_without_its_c_modules(served: Lab, words: tuple[str, ...]) -> None:
    """The private modules only save time: without them the output is the same."""
    by_c, by_public = (printed(served, code, *words) for code in (CALL.format(loaded="0"), WITHOUT_C))
    assert by_public == by_c != b""
