"""The words of every command that is a capability, generated from `brief/capabilities` by `scripts/make-files`.

A command is its id, its words, its title and its arguments; an argument is a name or flag, and what argparse is told of it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than making the parser
    from typing import Any

    Argument = tuple[str, dict[str, Any]]
    Command = tuple[str, tuple[str, ...], str, tuple[Argument, ...]]

ROOT: Argument = ("--root", {"metavar": "DIR", "help": "a folder of the checkout that is meant; else the current folder"})
FORMAT: Argument = ("--format", {"choices": ("text", "json"), "default": "text", "help": "text for a person, or JSON"})

COMMANDS: tuple[Command, ...] = (
    (
        "brief.session",
        ("brief",),
        "Print what a session must know of this repository, each section saying whether it was really read",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--format", {"help": "text for a person, json, prompt for a model, or the one line", "choices": ("text", "json", "prompt", "line"), "default": "text"}),
            ("--section", {"help": "show the rows of this section only; may be repeated (state, peers, mesh, integration, derive, alerts)", "action": "append", "choices": ("state", "peers", "mesh", "integration", "derive", "alerts"), "metavar": "SECTION"}),
            ("--budget", {"help": "leave out rows to fit into so many bytes", "type": int, "metavar": "BYTES"}),
            ("--width", {"help": "break lines between words at so many columns, and cut the one line", "type": int, "metavar": "COLUMNS"}),
            ROOT,
            ("--line", {"dest": "format", "action": "store_const", "const": "line", "help": "the one line alone"}),
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "integration.queue",
        ("queue", "show"),
        "Show the branches that wait to be merged, as last read",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "integration.queue.refresh",
        ("queue", "refresh"),
        "Look at the branches anew; nothing is fetched and nothing in git changes",
        (
            ROOT,
            FORMAT,
        ),
    ),
    (
        "derive.lock",
        ("derive", "status"),
        "Tell whether the derive lock is free, or who holds it",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "peers.list",
        ("peers", "list"),
        "List who else is here: the board of every checkout, and the sessions on them",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "peers.announce",
        ("peers", "announce"),
        "Say what an episode is about to change, and hear who else is about the same paths",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("intent", {"metavar": "INTENT", "help": "what is about to be done, in a few words"}),
            ("--scope", {"help": "a path it is about, a folder for all in it, or src/*.py; may be repeated", "action": "append", "metavar": "PATH"}),
            ("--name", {"help": "what this claim is called; the same name replaces", "metavar": "NAME"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "peers.release",
        ("peers", "release"),
        "Release what an episode announced",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("name", {"metavar": "NAME", "nargs": "?", "help": "the claim that ends; else every one of the episode"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lifecycle.episodes",
        ("episode", "list"),
        "List the open episodes of the repository",
        (
            ("--closed", {"action": "store_true", "default": None, "help": "list the last 32 closed ones too"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lifecycle.episodes.open",
        ("episode", "open"),
        "Open an episode in this checkout, or hear an open one again",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--provider", {"help": "whose agent it is, as in claude-code", "metavar": "PROVIDER"}),
            ("--state", {"help": "what it does now", "choices": ("busy", "idle", "waiting", "unknown")}),
            ("--pid", {"help": "the process it lives and dies with", "type": int, "metavar": "PID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lifecycle.episodes.close",
        ("episode", "close"),
        "Close an episode, with the reason",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--reason", {"help": "why it ends", "metavar": "TEXT"}),
            ("--pid", {"help": "the client that ends it: it goes on in another that shows it too", "type": int, "metavar": "PID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes",
        ("wake", "list"),
        "List when each session is woken next, what keeps it from that, and what was counted",
        (
            ("--counts", {"action": "store_true", "default": None, "help": "also what was counted of each: wakes, skips, and what it was told"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes.pause",
        ("wake", "pause"),
        "Wake a session, or all of the repository, no more, and withdraw what waits",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--repository", {"action": "store_true", "default": None, "help": "every session of the repository, whichever is named"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes.resume",
        ("wake", "resume"),
        "Wake a session, or all of the repository, again",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--repository", {"action": "store_true", "default": None, "help": "every session of the repository, whichever is named"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "wakes.now",
        ("wake", "now"),
        "Wake a session at its next heartbeat, without waiting for the interval",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "continuity.state",
        ("task", "show"),
        "Show the episode of this checkout and what it works on",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "continuity.state.set",
        ("task", "set"),
        "Say what an episode works on from now on",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("title", {"metavar": "TITLE", "help": "the task in a few words"}),
            ("--next", {"help": "what is done next", "metavar": "TEXT"}),
            ("--scope", {"help": "a path the task is about; may be repeated", "action": "append", "metavar": "PATH"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "continuity.state.next",
        ("task", "next"),
        "Say what an episode does next in its task",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("action", {"metavar": "ACTION", "help": "the next action in a few words"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "continuity.state.done",
        ("task", "done"),
        "End the task of an episode",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts",
        ("alerts", "list"),
        "List the notices that concern this session, the most urgent first",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--component", {"help": "the component in focus; else the task's scope, else the policy's", "metavar": "COMPONENT"}),
            ("--owner", {"action": "store_true", "default": None, "help": "also those for the owner alone; not in a model's shell"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "alerts.show",
        ("alerts", "show"),
        "Show one notice in full, and why it is shown or not",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--component", {"help": "the component in focus; else the task's scope, else the policy's", "metavar": "COMPONENT"}),
            ("--owner", {"action": "store_true", "default": None, "help": "also those for the owner alone; not in a model's shell"}),
            ("slug", {"metavar": "SLUG", "help": "the name of the notice, as lists give it"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.reminders",
        ("reminders",),
        "List what is due and still to come, for a person those for the owner alone among it",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("--component", {"help": "the component in focus; else the task's scope, else the policy's", "metavar": "COMPONENT"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "alerts.add",
        ("alerts", "add"),
        "Leave a notice for the other sessions",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("title", {"metavar": "TITLE", "help": "what it says, in a line"}),
            ("--component", {"help": "the component it is about", "metavar": "COMPONENT"}),
            ("--kind", {"help": "what it is, an alert unless said; a lock is placed with majordomus lock place (lock, courtesy, reminder, alert, bug-dep)", "choices": ("lock", "courtesy", "reminder", "alert", "bug-dep"), "metavar": "KIND"}),
            ("--body", {"help": "more lines, in Markdown", "metavar": "BODY"}),
            ("--priority", {"help": "0 to 10; 5 unless said, 8 for a bug-dep", "type": int, "metavar": "PRIORITY"}),
            ("--severity", {"help": "how long it is shown without dates: high 999 days, normal 7, low 3; normal unless said", "choices": ("high", "normal", "low")}),
            ("--expires", {"help": "YYYY-MM-DD [HH:MM], with which it is over: 2027-01-31 is last shown on the 30th", "metavar": "WHEN"}),
            ("--fires-on", {"help": "YYYY-MM-DD [HH:MM], with which it begins to be due and shown", "metavar": "WHEN"}),
            ("--recurring", {"help": "how often it is due again (daily, weekdays, weekly, monthly, yearly)", "choices": ("daily", "weekdays", "weekly", "monthly", "yearly"), "metavar": "RECURRING"}),
            ("--audience", {"help": "owner keeps it from every text for a model", "choices": ("all", "owner")}),
            ("--applies-when", {"help": "whom it concerns, such as component == 'billing' or paths matches 'src/**'; all unless said", "metavar": "APPLIES_WHEN"}),
            ("--ticket", {"help": "the ticket it is about", "metavar": "TICKET"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.done",
        ("alerts", "done"),
        "Set a notice to done, or a recurring one to its next time, once until it is due again",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("slug", {"metavar": "SLUG", "help": "the name of the notice, or the path of its file"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.ack",
        ("alerts", "ack"),
        "Note that this session has read a courtesy or an alert: it is not told it again, and all others are; locks, bug-deps and what is due by a day stay until they are done",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("slug", {"metavar": "SLUG", "help": "the name of the notice, or the path of its file"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.archive",
        ("alerts", "archive"),
        "Move a notice to the archive, whatever its dates say",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("slug", {"metavar": "SLUG", "help": "the name of the notice, or the path of its file"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "alerts.migrate",
        ("alerts", "migrate"),
        "Take a reminders list over as notices for the owner; safe to repeat",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("file", {"metavar": "FILE", "help": "a reminders list in Markdown"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lock.place",
        ("lock", "place"),
        "Place a lock on a component; of several at once one gets it",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("component", {"metavar": "COMPONENT", "help": "what nobody else is to change meanwhile"}),
            ("--title", {"help": "why, in a line", "metavar": "TITLE"}),
            ("--body", {"help": "more lines, in Markdown", "metavar": "BODY"}),
            ("--ttl", {"help": "minutes from now after which it is over by itself; placed again, a lock of one's own holds until then", "type": int, "metavar": "MINUTES"}),
            ("--priority", {"help": "0 to 10; 5 unless said", "type": int, "metavar": "PRIORITY"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lock.release",
        ("lock", "release"),
        "Release this session's lock on a component",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ("component", {"metavar": "COMPONENT", "help": "what others may change again"}),
            ("--force", {"action": "store_true", "default": None, "help": "release it although another session holds it"}),
            ROOT,
            FORMAT,
        ),
    ),
    (
        "lock.status",
        ("lock", "status"),
        "List the locks that stand, with their owners",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 10 where not all was read"}),
        ),
    ),
    (
        "lock.audit",
        ("lock", "audit"),
        "Tell how far each lock names its owner; --strict fails for those that must and do not",
        (
            ("--session", {"help": "the id of the episode that is meant; else CLAUDE_CODE_SESSION_ID", "metavar": "ID"}),
            ROOT,
            FORMAT,
            ("--strict", {"action": "store_true", "help": "exit 1 where a lock does not name its owner and must, 10 where not all was read"}),
        ),
    ),
)
