"""Every command that a server can answer, generated from `brief/capabilities` by `scripts/make-files`.

By its words: method and path below `/api/v1`, kind, the exit code that `--strict` asks for (0: there is no such
option), its forms (the first is the default), its positional fields, and its options. A field is `(name, type)`, an
option `(name, type, is_repeatable)`. A type is `text`, `file`, `int`, `flag`, or the values of a choice.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than asking the server
    Type = str | tuple[str, ...]
    Entry = tuple[str, str, str, int, tuple[str, ...], tuple[tuple[str, Type, bool], ...], dict[str, tuple[str, Type, bool]]]

COMMANDS: dict[str, Entry] = {
    "brief": (
        "GET",
        "/brief",
        "query",
        10,
        ("text", "json", "prompt", "line"),
        (),
        {
            "--session": ("session", "text", False),
            "--section": ("section", ("state", "peers", "mesh", "integration", "derive", "alerts"), True),
            "--budget": ("budget", "int", False),
            "--width": ("width", "int", False),
        },
    ),
    "queue show": (
        "GET",
        "/queue",
        "query",
        10,
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
        0,
        ("text", "json"),
        (),
        {
        },
    ),
    "derive status": (
        "GET",
        "/derive",
        "query",
        10,
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
        10,
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
        0,
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
        0,
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
        0,
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
        0,
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
        0,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--reason": ("reason", "text", False),
        },
    ),
    "wake list": (
        "GET",
        "/wakes",
        "query",
        0,
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
        0,
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
        0,
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
        0,
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
        10,
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
        0,
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
        0,
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
        0,
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
        10,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
        },
    ),
    "alerts show": (
        "GET",
        "/alerts/notice",
        "query",
        0,
        ("text", "json"),
        (("slug", "text", True),),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
        },
    ),
    "reminders": (
        "GET",
        "/alerts/reminders",
        "query",
        10,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
            "--component": ("component", "text", False),
        },
    ),
    "alerts add": (
        "POST",
        "/alerts",
        "command",
        0,
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
        0,
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
        0,
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
        0,
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
        0,
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
        0,
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
        0,
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
        0,
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
        1,
        ("text", "json"),
        (),
        {
            "--session": ("session", "text", False),
        },
    ),
}
