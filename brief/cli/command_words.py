"""The words of every command that is a capability, generated from `brief/capabilities` by `scripts/make-files`.

A command has an id, words, a title and arguments. An argument is a name or flag, and the options given to argparse.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than making the parser
    from typing import Any

    Argument = tuple[str, dict[str, Any]]
    Command = tuple[str, tuple[str, ...], str, tuple[Argument, ...]]

ROOT: Argument = ("--root", {"metavar": "DIR", "help": "any folder in the checkout to use (default: the current folder)"})
FORMAT: Argument = ("--format", {"choices": ("text", "json"), "default": "text", "help": "output format (default: text)"})

COMMANDS: tuple[Command, ...] = (
    (
        "brief.session",
        ("brief",),
        "Print what a session needs to know about this repository; each section says whether it was really read",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--format", {"help": "output format: text for a person, json, prompt for a model, or line for the one-line brief", "choices": ("text", "json", "prompt", "line"), "default": "text"}),
            ("--section", {"help": "show this section only; may be repeated (state, peers, mesh, integration, derive, alerts)", "action": "append", "choices": ("state", "peers", "mesh", "integration", "derive", "alerts"), "metavar": "SECTION"}),
            ("--budget", {"help": "leave out rows so that the brief fits into this many bytes", "type": int, "metavar": "BYTES"}),
            ("--width", {"help": "wrap lines between words, and cut the one-line brief, at this many columns", "type": int, "metavar": "COLUMNS"}),
            ("--verbose", {"action": "store_true", "default": None, "help": "also show, as text, the process, epoch and version of the server that composed it"}),
            ROOT,
            ("--line", {"dest": "format", "action": "store_const", "const": "line", "help": "print only the one-line brief"}),
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "integration.queue",
        ("queue", "show"),
        "Show the branches that wait to be merged, as they were last read",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "integration.queue.refresh",
        ("queue", "refresh"),
        "Read the branches that wait to be merged again; this fetches nothing and changes nothing in git",
        (
            ROOT,
            FORMAT,
        ),
    ),
    (
        "derive.lock",
        ("derive", "status"),
        "Show whether the derive lock is free, or who holds it",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "peers.list",
        ("peers", "list"),
        "List the board of every checkout, with the sessions on it",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "peers.announce",
        ("peers", "announce"),
        "Announce what an episode is about to change, and show who else works on the same paths",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("intent", {"metavar": "INTENT", "help": "what you are about to do, in a few words"}),
            ("--scope", {"help": "file, folder (and everything in it) or pattern such as src/*.py that you will change; may be repeated", "action": "append", "metavar": "PATH"}),
            ("--name", {"help": "name of this claim; replaces a claim of the same name (default: work)", "metavar": "NAME"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "peers.release",
        ("peers", "release"),
        "Withdraw what an episode announced",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("name", {"metavar": "NAME", "nargs": "?", "help": "claim to withdraw (default: every claim of the episode)"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lifecycle.episodes",
        ("episode", "list"),
        "List the open episodes of the repository",
        (
            ("--closed", {"action": "store_true", "default": None, "help": "also list the 32 most recently closed episodes"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "lifecycle.episodes.open",
        ("episode", "open"),
        "Open an episode in this checkout, or record that an open one was heard again",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--provider", {"help": "coding agent that runs the session, such as claude-code (default: unknown)", "metavar": "PROVIDER"}),
            ("--state", {"help": "what the session is doing now (default: unknown)", "choices": ("busy", "idle", "waiting", "unknown")}),
            ("--pid", {"help": "number of the session's process; the episode ends when this process is gone", "type": int, "metavar": "PID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lifecycle.episodes.close",
        ("episode", "close"),
        "Close an episode and record the reason",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--reason", {"help": "why the episode ends (default: closed by command)", "metavar": "TEXT"}),
            ("--pid", {"help": "process number of the client that ends it; the episode stays open if another client also shows it", "type": int, "metavar": "PID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes",
        ("wake", "list"),
        "List when each session is woken next, what prevents that, and what was counted",
        (
            ("--counts", {"action": "store_true", "default": None, "help": "also show the counts of each session: wakes, skips, and briefs read"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes.pause",
        ("wake", "pause"),
        "Stop waking a session, or every session of the repository, and withdraw wakes that wait",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--repository", {"action": "store_true", "default": None, "help": "apply to every session of the repository, whichever session is named"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes.resume",
        ("wake", "resume"),
        "Resume waking a session, or every session of the repository that is not paused by itself",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--repository", {"action": "store_true", "default": None, "help": "apply to every session of the repository, whichever session is named"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes.now",
        ("wake", "now"),
        "Wake a session at its next heartbeat instead of waiting for the interval",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "continuity.state",
        ("task", "show"),
        "Show the episode of this checkout and its task",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "continuity.state.set",
        ("task", "set"),
        "Set the task of an episode",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("title", {"metavar": "TITLE", "help": "the task, in a few words"}),
            ("--next", {"help": "the next action, in a few words", "metavar": "TEXT"}),
            ("--scope", {"help": "path that the task is about; may be repeated", "action": "append", "metavar": "PATH"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "continuity.state.next",
        ("task", "next"),
        "Set the next action of an episode's task",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("action", {"metavar": "ACTION", "help": "the next action, in a few words"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "continuity.state.done",
        ("task", "done"),
        "End the task of an episode",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts",
        ("alerts", "list"),
        "List the notices that concern this session, most urgent first",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--component", {"help": "component to list notices for (default: from the task's scope, else from the policy)", "metavar": "COMPONENT"}),
            ("--owner", {"action": "store_true", "default": None, "help": "also show notices meant for the owner alone; refused in a model's shell"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "alerts.show",
        ("alerts", "show"),
        "Show one notice in full, and why lists show or hide it",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--component", {"help": "component to list notices for (default: from the task's scope, else from the policy)", "metavar": "COMPONENT"}),
            ("--owner", {"action": "store_true", "default": None, "help": "also show notices meant for the owner alone; refused in a model's shell"}),
            ("slug", {"metavar": "SLUG", "help": "name of the notice, as lists show it"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.reminders",
        ("reminders",),
        "List reminders that are due or still to come; a person also sees those meant for the owner alone",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("--component", {"help": "component to list notices for (default: from the task's scope, else from the policy)", "metavar": "COMPONENT"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "alerts.add",
        ("alerts", "add"),
        "Leave a notice for the other sessions",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("title", {"metavar": "TITLE", "help": "what the notice says, in one line"}),
            ("--component", {"help": "component that the notice is about", "metavar": "COMPONENT"}),
            ("--kind", {"help": "kind of notice (default: alert); use majordomus lock place for a lock (lock, courtesy, reminder, alert, bug-dep)", "choices": ("lock", "courtesy", "reminder", "alert", "bug-dep"), "metavar": "KIND"}),
            ("--body", {"help": "further text, in Markdown", "metavar": "BODY"}),
            ("--priority", {"help": "priority, 0 to 10; higher comes first (default: 5, or 8 for a bug-dep)", "type": int, "metavar": "PRIORITY"}),
            ("--severity", {"help": "how long a notice without dates is shown: high 999 days, normal 7, low 3 (default: normal)", "choices": ("high", "normal", "low")}),
            ("--expires", {"help": "when it expires, YYYY-MM-DD [HH:MM], exclusive: with 2027-01-31 it is last shown on the 30th", "metavar": "WHEN"}),
            ("--fires-on", {"help": "when it becomes due and is first shown, YYYY-MM-DD [HH:MM], inclusive", "metavar": "WHEN"}),
            ("--recurring", {"help": "how often it becomes due again (daily, weekdays, weekly, monthly, yearly)", "choices": ("daily", "weekdays", "weekly", "monthly", "yearly"), "metavar": "RECURRING"}),
            ("--audience", {"help": "who may see it: owner keeps it out of every text for a model", "choices": ("all", "owner")}),
            ("--applies-when", {"help": "condition for whom it concerns, such as component == 'billing' or paths matches 'src/**' (default: everyone)", "metavar": "APPLIES_WHEN"}),
            ("--ticket", {"help": "ticket that the notice is about", "metavar": "TICKET"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.done",
        ("alerts", "done"),
        "Mark a notice as done, or move a recurring one to its next date (no effect if it is not due yet)",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("slug", {"metavar": "SLUG", "help": "name of the notice, or the path of its file"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.ack",
        ("alerts", "ack"),
        "Acknowledge a courtesy or an alert, so that this session is not shown it again; all others still are. Locks, bug-deps and notices with a due date stay until they are done",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("slug", {"metavar": "SLUG", "help": "name of the notice, or the path of its file"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.archive",
        ("alerts", "archive"),
        "Move a notice to the archive, whatever its dates are",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("slug", {"metavar": "SLUG", "help": "name of the notice, or the path of its file"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.migrate",
        ("alerts", "migrate"),
        "Import a Markdown list of reminders as notices for the owner; safe to repeat",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("file", {"metavar": "FILE", "help": "path of a list of reminders in Markdown"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lock.place",
        ("lock", "place"),
        "Place a lock on a component; if several sessions try at once, one succeeds",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("component", {"metavar": "COMPONENT", "help": "component that nobody else may change while the lock is held"}),
            ("--title", {"help": "why you lock it, in one line", "metavar": "TITLE"}),
            ("--body", {"help": "further text, in Markdown", "metavar": "BODY"}),
            ("--ttl", {"help": "minutes until the lock expires; placing your own lock again renews it for this long", "type": int, "metavar": "MINUTES"}),
            ("--priority", {"help": "priority, 0 to 10; higher comes first (default: 5)", "type": int, "metavar": "PRIORITY"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lock.release",
        ("lock", "release"),
        "Release this session's lock on a component",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ("component", {"metavar": "COMPONENT", "help": "component that others may change again"}),
            ("--force", {"action": "store_true", "default": None, "help": "release the lock even if another session holds it"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lock.status",
        ("lock", "status"),
        "List the locks that are held, with their owners",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 if not everything was read"}),
        ),
    ),
    (
        "lock.audit",
        ("lock", "audit"),
        "Show how well each lock names its owner; with --strict, fail if a lock that must name one does not",
        (
            ("--session", {"help": "id of the episode (default: CLAUDE_CODE_SESSION_ID, if set)", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 1 if a lock that must name its owner does not, 10 if not everything was read"}),
        ),
    ),
)
