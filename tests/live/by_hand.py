"""The real client with the mod in a scratch repository, to look at: attached to this terminal, or as panes of text."""

from __future__ import annotations

import argparse
import os
import signal
from collections.abc import Iterator

from brief.fastpath.output import write_output
from claude import Session, settle_in
from messages import Messages
from sandbox import Lab, until
from serving import lease, write_policy

ON = "session:\n  brief_on_interval: true\n  brief_interval_minutes: 12\n"
OFF = "session:\n  brief_on_interval: false\n"


def main() -> None:
    """Start it, and end all of it afterwards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--columns", type=int, default=100, help="how wide the terminal is")
    parser.add_argument("--minute", default="5", help="how many seconds a minute of the schedule lasts")
    parser.add_argument("--panes", action="store_true", help="print how it looks, and end")
    args = parser.parse_args()
    with Lab("shop") as lab, Messages() as messages:
        house(lab, args.minute)
        if args.panes:
            for title, pane in panes(lab, messages, args.columns):
                write_output(f"{title}\n\n{pane}\n\n".encode())
            return
        with Session(lab, messages, lab.repo, args.columns) as session:
            session.attach()


def house(lab: Lab, minute: str) -> None:
    """A repository with the mod, a second worktree in which a session works, and a lock of it."""
    lab.env["MAJORDOMUS_TEST_MINUTE_SECONDS"] = minute
    write_policy(lab, ON)
    lab.commit()
    other = lab.worktree("checkout")
    settle_in(lab, lab.repo)
    beth = ["--session", "b1e7b1e7-0000-4000-8000-000000000001"]
    for words in (
        ["episode", "open", *beth],
        ["task", "set", "mend the login", *beth],
        ["lock", "place", "koda", *beth],
    ):
        done = lab.majordomus(*words, cwd=other)
        assert done.returncode == 0, done.stderr
    lab.majordomus("capture", "install")


def panes(lab: Lab, messages: Messages, columns: int) -> Iterator[tuple[str, str]]:
    """The lower part of the screen: idle, woken, with the server gone, and where none has answered yet."""
    with Session(lab, messages, lab.repo, columns) as session:
        session.shows("peers")
        yield "idle", lower(session)
        until(lambda: messages.wakes, 120)
        session.shows("Understood")
        yield "woken", lower(session, 14)
        write_policy(lab, OFF)
        os.kill(lease(lab)["pid"], signal.SIGKILL)
        session.shows("no server, as of", 90)
        yield "server gone, and the policy starts none", lower(session)
    with Session(lab, messages, lab.repo, columns) as session:
        session.shows("brief ?")
        yield "unread", lower(session)


def lower(session: Session, rows: int = 5) -> str:
    """The last rows of the screen, indented as Markdown takes them for code."""
    return "\n".join(f"    {row}" for row in session.screen().splitlines()[-rows:])


if __name__ == "__main__":
    main()
