from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from brief.fastpath.locate import NotLocatedError, locate
from brief.install.mods import MODS
from brief.support.package_data import mod_folder
from claude import Session, client, environment, settle_in
from hostile import FOREIGN, needs_root
from messages import Messages
from npm import program
from sandbox import Lab, until

TYPESCRIPT = "7.0.2"


def run(lab: Lab, tmp_path: Path, action: str) -> str:
    """What the client says of the shipped mod, which must be good."""
    copy = shutil.copytree(mod_folder(MODS[0].source), tmp_path / MODS[0].name)
    argv = [client(), "plugin", action, str(copy)]
    done = subprocess.run(argv, env=environment(lab), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_validate(lab: Lab, tmp_path: Path) -> None:
    """The client finds nothing in the mod that it would refuse."""
    told = run(lab, tmp_path, "validate")
    assert "Validation passed" in told


def test_types(lab: Lab, messages: Messages, tmp_path: Path) -> None:
    """The mod, its tests among it, keeps to the types of its interface that the client itself writes down."""
    copy = shutil.copytree(mod_folder(MODS[0].source), tmp_path / MODS[0].name)
    settle_in(lab, lab.repo)
    with Session(lab, messages, lab.repo, words=["--plugin-dir", str(copy)]):
        until((copy / "tsconfig.json").exists, 30)
    argv = [program("typescript", TYPESCRIPT, "tsc"), "--noEmit", "--project", str(copy)]
    done = subprocess.run(argv, env=lab.env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_own_tests(lab: Lab, tmp_path: Path) -> None:
    """The mod's own tests pass in the client's kit, and there are many."""
    told = run(lab, tmp_path, "test")
    assert " 0 fail" in told
    assert told.count("(pass)") > 50


ENGINE = """
const fs = require('node:fs'), { spawnSync } = require('node:child_process')
const { checkoutAround } = require('./checkout.js'), { isOwnWay } = require('./owner.js')
const kind = found => (found.isFile() ? 'file' : found.isDirectory() ? 'dir' : 'other')
const $ = {
  fs: { stat: async path => ({ kind: kind(fs.statSync(path)) }), read: async path => fs.readFileSync(path, 'utf8') },
  process: { run: async ([file, ...words]) => {
    const done = spawnSync(file, words, { encoding: 'utf8' })
    return { exitCode: done.status, stdout: done.stdout }
  } },
}
const answer = async folder => {
  const found = await checkoutAround($, folder)
  if (found === null || !(await isOwnWay($, found))) return null
  return [found.root, fs.realpathSync(found.gitDir), fs.realpathSync(found.commonDir)]
}
const folders = JSON.parse(process.argv[2])
Promise.all(folders.map(answer)).then(told => console.log(JSON.stringify(told)))
"""
"""What answers for the engine of the client: its calls, by Node.js."""


def planted(lab: Lab, tmp_path: Path) -> list[str]:
    """Folders that are checkouts, are none, or cannot or must not be told to be any."""
    plain = lab.worktree("plain")
    (plain / "deep").mkdir()
    for name in ("gone", "empty", "odd", "folder", "nothing", "late", "theirs", "marker", "linked", "broken"):
        (tmp_path / name).mkdir()
    entry = lab.repo / ".git/worktrees/plain"
    (tmp_path / "gone/.git").write_text(f"gitdir: {lab.repo}/.git/worktrees/none\n")
    (tmp_path / "odd/.git").write_text("nonsense\n")
    (tmp_path / "late/.git").write_text(f"nonsense\ngitdir: {entry}\n")
    (tmp_path / "folder/.git").mkdir()
    for name, said in (("empty", "\n"), ("broken", "../..\0\n")):
        shutil.copytree(entry, tmp_path / f"git-{name}")
        (tmp_path / f"git-{name}/commondir").write_text(said)
        (tmp_path / f"{name}/.git").write_text(f"gitdir: {tmp_path}/git-{name}\n")
    for name in ("theirs", "marker"):
        (tmp_path / name / ".git").write_text(f"gitdir: {lab.repo}/.git\n")
    (tmp_path / "linked/.git").symlink_to(lab.repo / ".git")
    os.chown(tmp_path / "theirs", FOREIGN, FOREIGN)
    os.chown(tmp_path / "marker/.git", FOREIGN, FOREIGN)
    os.chown(tmp_path / "linked/.git", FOREIGN, FOREIGN, follow_symlinks=False)
    own = [str(lab.repo), str(plain), str(plain / "deep")]
    return [*own, *(str(folder) for folder in sorted(tmp_path.iterdir()) if not folder.name.startswith("git-"))]


@needs_root
def test_the_mod_finds_the_checkouts_that_the_fast_path_finds(lab: Lab, tmp_path: Path) -> None:
    """In every layout, own or another user's, the mod's reader of `.git` answers as the fast path's does."""

    def located(folder: str) -> list[str] | None:
        try:
            here = locate(folder)
        except NotLocatedError:
            return None
        return [here.root, here.git_dir, here.common_dir]

    lab.commit()
    folders = planted(lab, tmp_path)
    out = lab.base / "hooks"
    sources = [str(mod_folder(MODS[0].source) / f"hooks/{name}.ts") for name in ("checkout", "owner")]
    argv = [
        program("typescript", TYPESCRIPT, "tsc"),
        "--module",
        "commonjs",
        "--target",
        "es2022",
        "--outDir",
        str(out),
    ]
    subprocess.run([*argv, *sources], cwd=lab.base, capture_output=True, check=False)  # without the client's types
    (out / "answer.js").write_text(ENGINE)
    done = subprocess.run(
        ["node", str(out / "answer.js"), json.dumps(folders)], env=lab.env, capture_output=True, text=True, check=True
    )
    told = dict(zip(folders, json.loads(done.stdout), strict=True))
    assert told == {folder: located(folder) for folder in folders}
    assert [told[str(lab.repo)], told[str(tmp_path / "theirs")]] == [
        [str(lab.repo), f"{lab.repo}/.git", f"{lab.repo}/.git"],
        None,
    ]
