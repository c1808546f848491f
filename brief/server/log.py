"""The log of a server: one JSON object per line, rotated, and reopened if someone removed the file."""

from __future__ import annotations

import contextlib
import json
import logging
import logging.handlers
import os
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

from brief.core.model.errors import SupersededError
from brief.fastpath.proof import open_file
from brief.support.fence import refuse_if_superseded

MOST_BYTES = 1_048_576
KEPT = 3
_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object: time, level, logger, event, and every extra field by name."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line, whatever the message contains."""
        fields = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
        }
        fields |= {name: value for name, value in vars(record).items() if name not in _PLAIN}
        if record.exc_info:
            fields["fault"] = self.formatException(record.exc_info)
        return json.dumps(fields, default=str)


class LastingFileHandler(logging.handlers.RotatingFileHandler):
    """A rotating log that reopens its file if the one it writes to was removed or replaced."""

    def _open(self) -> TextIOWrapper:
        """Open the file without following links, readable by the user alone whatever the umask."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = open_file(self.baseFilename, flags=flags)
        os.fchmod(descriptor, 0o600)
        return open(descriptor, "a", encoding=self.encoding, errors=self.errors)

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record to the file that is at the path now."""
        if self.stream is not None and not _is_named(self.stream.fileno(), self.baseFilename):
            with contextlib.suppress(OSError):
                self.close()
        super().emit(record)  # reopens the path if necessary, and raises nothing

    def shouldRollover(self, record: logging.LogRecord) -> bool:  # noqa: N802 - the standard library's name
        """Whether the file is full and this process still holds the lease, so that it may rename files."""
        try:
            refuse_if_superseded()
        except SupersededError:
            return False
        return bool(super().shouldRollover(record))


def _is_named(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except OSError:
        return False


def log_to(path: Path | None) -> None:
    """Log to a rotated file, or to standard error without a path."""
    handler = _file_handler(path) if path is not None else logging.StreamHandler()
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    # A failure to log is not worth a traceback that nobody would read.
    logging.raiseExceptions = False


def _file_handler(path: Path) -> logging.Handler:
    return LastingFileHandler(path, maxBytes=MOST_BYTES, backupCount=KEPT, encoding="utf-8", errors="backslashreplace")
