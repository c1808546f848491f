from __future__ import annotations

import subprocess
import sys

import pytest

from lab import Lab

OURS = {
    "brief",
    "brief.__main__",
    "brief.fast",
    "brief.fast.ask",
    "brief.fast.lease",
    "brief.fast.locate",
    "brief.fast.main",
    "brief.fast.output",
    "brief.fast.words",
}
STANDARD = {
    "array",
    "collections",
    "copyreg",
    "enum",
    "errno",
    "functools",
    "itertools",
    "json",
    "keyword",
    "math",
    "operator",
    "re",
    "reprlib",
    "select",
    "selectors",
    "socket",
    "types",
}
"""What `socket` and `json` bring along; names with an underscore in front are their own parts."""
ONLY_STATUSLINE = {"brief.fast.client", "brief.fast.statusline"}
ONLY_HOOK = {"brief.fast.client", "brief.fast.hook", "signal"}

LOADED = "import sys; sys.stderr.write(' '.join(sys.modules))"
CALL = "import sys; from brief.__main__ import main; code = main(); {loaded}; sys.exit(code)"


def loaded(lab: Lab, code: str, *words: str) -> set[str]:
    """The modules that an interpreter holds after `code`."""
    argv = [sys.executable, "-c", code, *words]
    done = subprocess.run(argv, cwd=lab.repo, env=lab.env, input=b"", capture_output=True, check=True)
    return set(done.stderr.decode().split())


@pytest.mark.parametrize(
    ("words", "more"), [(("brief", "--line"), set()), (("statusline",), ONLY_STATUSLINE), (("hook", "stop"), ONLY_HOOK)]
)
def test_what_the_fast_path_imports(served: Lab, words: tuple[str, ...], more: set[str]) -> None:
    """Every prompt and every refresh pay for these modules and for no other."""
    bare = loaded(served, LOADED)
    added = loaded(served, CALL.format(loaded=LOADED.removeprefix("import sys; ")), *words) - bare
    ours = {name for name in added if name.partition(".")[0] == "brief"}
    others = {name.partition(".")[0] for name in added - ours if not name.startswith("_")}
    assert ours == OURS | {name for name in more if name.startswith("brief")}
    assert others <= STANDARD | more
