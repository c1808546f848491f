"""Every error that a person may meet. Each is one sentence: what, where, which value, and what to do."""

from __future__ import annotations

ANSWERED = 0
FAILED = 1
USAGE = 2
NOT_ALL_READ = 10
GAVE_UP = 12


class MajordomusError(Exception):
    """An error whose message is a sentence, with an `exit_code` for the shell and an `http_status` for HTTP."""

    exit_code = FAILED
    http_status = 500

    @property
    def sentence(self) -> str:
        """The error as one sentence, never a traceback."""
        return str(self)


class UsageError(MajordomusError):
    """The words or values of a call are unusable."""

    exit_code = USAGE
    http_status = 400


class NotFoundError(MajordomusError):
    """The call names something that does not exist here."""

    http_status = 404


class ConflictError(MajordomusError):
    """The call conflicts with the present state."""

    http_status = 409


class RepositoryError(MajordomusError):
    """No checkout can be used here: there is none, it is bare, or git refuses it."""

    exit_code = USAGE
    http_status = 400


class GitError(MajordomusError):
    """git did not answer, or it failed."""


class DocumentError(MajordomusError):
    """A text is not valid YAML by the strict rules. `line` and `column` count from 1."""

    exit_code = USAGE
    http_status = 400

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class PolicyError(MajordomusError):
    """A policy is unusable as written."""

    exit_code = USAGE
    http_status = 400


class StoreError(MajordomusError):
    """The repository's database cannot be read or written."""


class EndingError(MajordomusError):
    """This server is ending and did nothing of the request. The next server can answer it."""

    http_status = 503


class SupersededError(MajordomusError):
    """A newer server holds the repository, so this one no longer writes anything."""

    http_status = 409


class NoServerError(MajordomusError):
    """No server answers for this repository. The message says why."""

    http_status = 503


class RuntimeFolderError(MajordomusError):
    """The socket folder is missing, belongs to another user, is a link, or is open to others."""


class GaveUpError(MajordomusError):
    """The call waited longer than the caller allowed."""

    exit_code = GAVE_UP
    http_status = 504
