"""The desk of one repository: what a question about a checkout is answered from, by a server or by a command alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from brief.core.errors import RepositoryError, UsageError
from brief.core.model import SECTIONS, AnsweredBy, Brief, Repository, Section
from brief.core.text.sanitize import wire
