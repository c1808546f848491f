"""Every command that a server can answer. Generated from `brief/capabilities` by `scripts/make-files`.

The key is the words of the command. The value is: method, path below `/api/v1`, kind, whether it has `--strict`, formats
(the first is the default), positional fields, and options. A positional is `(field, type, is_required)`, an option
`(field, type, is_repeatable)`. A type is `text`, `file`, `int`, `flag`, or the values of a choice. `owner` is a flag that
only a person's shell has. `person` is not an option: it is set in every person's shell.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than asking the server
    Type = str | tuple[str, ...]
    Entry = tuple[str, str, str, bool, tuple[str, ...], tuple[tuple[str, Type, bool], ...], dict[str, tuple[str, Type, bool]]]

COMMANDS: dict[str, Entry] = {
    "brief": (
        "GET",
        "/brief",
        "query",
        True,
        ("text", "json", "prompt", "line"),
        (),
        {
            "--session": ("session", "text", False),
            "--section": ("section", ("state", "peers", "mesh", "integration", "derive", "alerts"), True),
            "--budget": ("budget", "int", False),
            "--width": ("width", "int", False),
            "--verbose": ("verbose", "flag", False),
        },
    ),
    "queue show": (
        "GET",
        "/queue",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "queue refresh": (
        "POST",
        "/queue",
        "command",
        False,
        ("text", "json"),
        (),
        {
        },
    ),
    "derive status": (
        "GET",
        "/derive",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "peers list": (
        "GET",
        "/peers",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "peers announce": (
        "POST",
        "/peers",
        "command",
        False,
        ("text", "json"),
        (("intent", "text", True),),
        {
            "--session": ("session", "text", False),
            "--scope": ("scope", "text", True),
            "--name": ("name", "text", False),
        },
    ),
    "peers release": (
        "POST",
        "/peers/release",
        "command",
        False,
        ("text", "json"),
        (("name", "text", False),),
        {
            "--session": ("session", "text", False),
        },
    ),
    "episode list": (
        "GET",
        "/episodes",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--closed": ("closed", "flag", False),
        },
    ),
    "episode open": (
        "POST",
        "/episodes",
        "command",
        False,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--provider": ("provider", "text", False),
            "--state": ("state", ("busy", "idle", "waiting", "unknown"), False),
            "--pid": ("pid", "int", False),
        },
    ),
    "episode close": (
        "POST",
        "/episodes/close",
        "command",
        False,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--reason": ("reason", "text", False),
            "--pid": ("pid", "int", False),
        },
    ),
    "wake list": (
        "GET",
        "/wakes",
        "query",
        False,
        ("text", "json"),
        (),
        {
            "--counts": ("counts", "flag", False),
        },
    ),
    "wake pause": (
        "POST",
        "/wakes/pause",
        "command",
        False,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--repository": ("repository", "flag", False),
        },
    ),
    "wake resume": (
        "POST",
        "/wakes/resume",
        "command",
        False,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--repository": ("repository", "flag", False),
        },
    ),
    "wake now": (
        "POST",
        "/wakes/now",
        "command",
        False,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "task show": (
        "GET",
        "/state",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "task set": (
        "POST",
        "/tasks",
        "command",
        False,
        ("text", "json"),
        (("title", "text", True),),
        {
            "--session": ("session", "text", False),
            "--next": ("next", "text", False),
            "--scope": ("scope", "text", True),
        },
    ),
    "task next": (
        "POST",
        "/tasks/next",
        "command",
        False,
        ("text", "json"),
        (("action", "text", True),),
        {
            "--session": ("session", "text", False),
        },
    ),
    "task done": (
        "POST",
        "/tasks/done",
        "command",
        False,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "alerts list": (
        "GET",
        "/alerts",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
            "--owner": ("owner", "owner", False),
        },
    ),
    "alerts show": (
        "GET",
        "/alerts/notice",
        "query",
        False,
        ("text", "json"),
        (("slug", "text", True),),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
            "--owner": ("owner", "owner", False),
        },
    ),
    "reminders": (
        "GET",
        "/alerts/reminders",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
            "owner": ("owner", "person", False),
        },
    ),
    "alerts add": (
        "POST",
        "/alerts",
        "command",
        False,
        ("text", "json"),
        (("title", "text", True),),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
            "--kind": ("kind", ("lock", "courtesy", "reminder", "alert", "bug-dep"), False),
            "--body": ("body", "text", False),
            "--priority": ("priority", "int", False),
            "--severity": ("severity", ("high", "normal", "low"), False),
            "--expires": ("expires", "text", False),
            "--fires-on": ("fires_on", "text", False),
            "--recurring": ("recurring", ("daily", "weekdays", "weekly", "monthly", "yearly"), False),
            "--audience": ("audience", ("all", "owner"), False),
            "--applies-when": ("applies_when", "text", False),
            "--ticket": ("ticket", "text", False),
        },
    ),
    "alerts done": (
        "POST",
        "/alerts/done",
        "command",
        False,
        ("text", "json"),
        (("slug", "text", True),),
        {
            "--session": ("session", "text", False),
        },
    ),
    "alerts ack": (
        "POST",
        "/alerts/ack",
        "command",
        False,
        ("text", "json"),
        (("slug", "text", True),),
        {
            "--session": ("session", "text", False),
        },
    ),
    "alerts archive": (
        "POST",
        "/alerts/archive",
        "command",
        False,
        ("text", "json"),
        (("slug", "text", True),),
        {
            "--session": ("session", "text", False),
        },
    ),
    "alerts migrate": (
        "POST",
        "/alerts/migrate",
        "command",
        False,
        ("text", "json"),
        (("file", "file", True),),
        {
            "--session": ("session", "text", False),
        },
    ),
    "lock place": (
        "POST",
        "/locks",
        "command",
        False,
        ("text", "json"),
        (("component", "text", True),),
        {
            "--session": ("session", "text", False),
            "--title": ("title", "text", False),
            "--body": ("body", "text", False),
            "--ttl": ("ttl", "int", False),
            "--priority": ("priority", "int", False),
        },
    ),
    "lock release": (
        "POST",
        "/locks/release",
        "command",
        False,
        ("text", "json"),
        (("component", "text", True),),
        {
            "--session": ("session", "text", False),
            "--force": ("force", "flag", False),
        },
    ),
    "lock status": (
        "GET",
        "/locks",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
    "lock audit": (
        "GET",
        "/locks/audit",
        "query",
        True,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
}
