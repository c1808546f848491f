"""Wakes: the prompts that brief idle sessions."""

from __future__ import annotations

from brief.capabilities.capability import Capability, Http
from brief.handlers import wakes

WAKES: tuple[Capability, ...] = (
    Capability(
        id="wakes",
        kind="query",
        title="List when each session is woken next, what prevents that, and what was counted",
        input=wakes.WakesInputs,
        output=wakes.AllWakes,
        handler=wakes.list_wakes,
        text=wakes.wakes_text,
        http=Http("GET", "/wakes"),
        cli=("wake", "list"),
        in_memory=True,
    ),
    Capability(
        id="wakes.pause",
        kind="command",
        title="Stop waking a session, or every session of the repository, and withdraw wakes that wait",
        input=wakes.PauseInputs,
        output=wakes.AllWakes,
        handler=wakes.pause_wakes,
        text=wakes.paused_text,
        http=Http("POST", "/wakes/pause"),
        cli=("wake", "pause"),
    ),
    Capability(
        id="wakes.resume",
        kind="command",
        title="Resume waking a session, or every session of the repository that is not paused by itself",
        input=wakes.PauseInputs,
        output=wakes.AllWakes,
        handler=wakes.resume_wakes,
        text=wakes.resumed_text,
        http=Http("POST", "/wakes/resume"),
        cli=("wake", "resume"),
    ),
    Capability(
        id="wakes.now",
        kind="command",
        title="Wake a session at its next heartbeat instead of waiting for the interval",
        input=wakes.WakeInputs,
        output=wakes.AllWakes,
        handler=wakes.wake_now,
        text=wakes.wakes_text,
        http=Http("POST", "/wakes/now"),
        cli=("wake", "now"),
    ),
)
