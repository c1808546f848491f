"""The journal of an open database (SQLite's WAL): whether somebody cut or overwrote it in the middle of a write.

Between two writes that shows in its size and time. During a write both change anyhow.
"""

from __future__ import annotations

import os

_MAGICS = (bytes.fromhex("377f0682"), bytes.fromhex("377f0683"))
_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24


class Journal:
    """A journal that is open to read, beside SQLite's own descriptor. It bears no locks that closing it could drop."""

    def __init__(self, path: str, page_bytes: int) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._frame_bytes = _FRAME_HEADER_BYTES + page_bytes

    def may_be_torn(self, size: int) -> bool:
        """Whether the journal, which had `size` bytes before a write, may have lost some of them meanwhile.

        The headers of the journal and of its last frame then are missing, or zeros before what was written since. A
        checkpoint by another program may look like this too.
        """
        if size <= _HEADER_BYTES:
            return False
        if os.pread(self._descriptor, 4, 0) not in _MAGICS:
            return True
        frames = (size - _HEADER_BYTES) // self._frame_bytes
        last = _HEADER_BYTES + (frames - 1) * self._frame_bytes
        return frames > 0 and not any(os.pread(self._descriptor, _FRAME_HEADER_BYTES, last))

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self._descriptor)
