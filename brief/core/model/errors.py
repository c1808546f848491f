"""Every fault a person may meet, each told as one sentence: what, where, which value, what to do."""

from __future__ import annotations

ANSWERED = 0
FAILED = 1
USAGE = 2
NOT_ALL_READ = 10
GAVE_UP = 12


class MajordomusError(Exception):
    """A fault with a sentence for a person; `exit_code` for the shell and `http_status` for the wire."""

    exit_code = FAILED
    http_status = 500

    @property
    def sentence(self) -> str:
        """The fault as one sentence, never a traceback."""
        return str(self)


class UsageError(MajordomusError):
    """The words or values of a call are such that it cannot go on."""

    exit_code = USAGE
    http_status = 400


class NotFoundError(MajordomusError):
    """What the call names does not exist here."""

    http_status = 404


class ConflictError(MajordomusError):
    """What the call asks for stands against what is already so."""

    http_status = 409


class RepositoryError(MajordomusError):
    """There is no checkout here that a brief could be about: none, a bare one, or one that git refuses."""

    exit_code = USAGE
    http_status = 400


class GitError(MajordomusError):
    """git did not answer, or answered that it failed."""


class DocumentError(MajordomusError):
    """A text that should be YAML is not, or not the strict kind; carries where, counted from 1."""

    exit_code = USAGE
    http_status = 400

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class PolicyError(MajordomusError):
    """A policy that cannot be taken as it stands."""

    exit_code = USAGE
    http_status = 400


class StoreError(MajordomusError):
    """The database of the repository cannot be read or written."""


class SupersededError(MajordomusError):
    """A newer server holds the repository: this one writes nothing more."""

    http_status = 409


class NoServerError(MajordomusError):
    """No server answers for this repository, and why."""

    http_status = 503


class RuntimeFolderError(MajordomusError):
    """The folder for sockets is missing, foreign, a link, or open to others."""


class GaveUpError(MajordomusError):
    """The wait was longer than the caller allowed."""

    exit_code = GAVE_UP
    http_status = 504
