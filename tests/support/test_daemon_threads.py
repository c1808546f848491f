"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from brief.support import daemon_threads
from brief.support.daemon_threads import in_thread
from sandbox import SOURCE, until


def test_the_loop_goes_on_while_work_blocks() -> None:
    """Blocking work runs in another thread and its result is awaited, while the loop goes on."""
    free = threading.Event()

    def work() -> tuple[bool, int]:
        return free.wait(20), threading.get_ident()

    async def story() -> tuple[bool, int]:
        working = in_thread(work)
        free.set()
        return await working

    waited, thread = asyncio.run(story())
    assert waited
    assert thread != threading.get_ident()


def test_a_thread_that_is_free_takes_the_next_work_and_one_that_hangs_takes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One thread does one piece of work after another; while it hangs, another thread starts at once."""
    workers = daemon_threads.Workers()
    monkeypatch.setattr(daemon_threads, "_workers", workers)
    free = threading.Event()

    async def story() -> tuple[int, int, int]:
        first = await in_thread(threading.get_ident)
        until(lambda: workers._idle)
        again = await in_thread(threading.get_ident)
        until(lambda: workers._idle)
        hanging = in_thread(lambda: free.wait(20))
        other = await in_thread(threading.get_ident)
        free.set()
        await hanging
        return first, again, other

    first, again, other = asyncio.run(story())
    assert first == again
    assert other != first


def test_threads_that_nobody_needs_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while without work no thread is left."""
    workers = daemon_threads.Workers()
    monkeypatch.setattr(daemon_threads, "_workers", workers)
    monkeypatch.setattr(daemon_threads, "IDLE_SECONDS", 0.01)
    before = set(threading.enumerate())

    async def story() -> None:
        await asyncio.gather(*(in_thread(lambda: None) for _ in range(4)))

    asyncio.run(story())
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
    assert workers._idle == []


@pytest.mark.parametrize("fault", [KeyError("x"), TimeoutError(), GeneratorExit("x")])
def test_what_work_raises_reaches_whoever_awaits(fault: BaseException) -> None:
    """An exception in the thread is raised by the await, the same object."""

    def work() -> None:
        raise fault

    async def story() -> BaseException:
        with pytest.raises(type(fault)) as caught:
            await in_thread(work)
        return caught.value

    assert asyncio.run(story()) is fault


def test_the_end_of_an_iterator_is_told_and_not_waited_for() -> None:
    """StopIteration, which futures refuse, arrives as a RuntimeError that names it."""

    async def story() -> None:
        await in_thread(lambda: next(iter(())))

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(story())


def test_no_thread_to_be_had_is_a_fault_of_the_await(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the system starts no thread, the await raises, not the call itself."""

    def refused(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def story() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refused)
            patch.setattr(daemon_threads, "_workers", daemon_threads.Workers())
            working = in_thread(lambda: None)
        await working

    with pytest.raises(RuntimeError, match="can't start new thread"):
        asyncio.run(story())


def test_an_outcome_nobody_waits_for_is_dropped() -> None:
    """A cancelled await ends at once, and the thread's late result disturbs nobody."""
    free, ended = threading.Event(), threading.Event()

    async def story() -> None:
        working = in_thread(lambda: free.wait(20))
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working
        free.set()
        await in_thread(ended.set)

    asyncio.run(story())
    assert ended.is_set()


def test_a_loop_that_ended_is_no_fault_of_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that ends after its loop has closed ends silently."""
    free, said = threading.Event(), list[str]()
    monkeypatch.setattr(threading, "excepthook", lambda told: said.append(str(told.exc_value)))
    monkeypatch.setattr(daemon_threads, "_workers", daemon_threads.Workers())
    monkeypatch.setattr(daemon_threads, "IDLE_SECONDS", 0.01)
    before = set(threading.enumerate())

    async def story() -> None:
        in_thread(lambda: free.wait(20))

    asyncio.run(story())
    free.set()
    for thread in set(threading.enumerate()) - before:
        thread.join(20)
    assert said == []


def test_work_that_hangs_keeps_no_process() -> None:
    """A process exits although one of its threads still hangs."""
    program = (
        "import asyncio, threading\nfrom brief.support.daemon_threads import in_thread\n"
        "async def main():\n    in_thread(threading.Event().wait)\nasyncio.run(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=SOURCE, timeout=60, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
