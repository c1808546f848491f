"""The three results of reading a file, a process or a socket: it is there, it is not there, or that is unknown.

A rule that receives `Unknown` keeps its previous value or says that it does not know. It never treats it as `ABSENT`.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than asking the server
    from typing import Generic, TypeVar

    T_co = TypeVar("T_co", covariant=True)

    class _Generic(Generic[T_co]):
        pass
else:
    T_co = None

    class _Generic:
        __slots__ = ()

        def __class_getitem__(cls, _item: object) -> type:
            return cls


class Known(_Generic[T_co]):
    """It is there, with this `value`."""

    __slots__ = ("value",)

    def __init__(self, value: T_co) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Known({self.value!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self.value == other.value

    def __hash__(self) -> int:
        return hash((Known, self.value))


class Absent:
    """It is proven not to be there. `ABSENT` is the only instance."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


class Unknown:
    """Nobody could find out whether it is there. `reason` is a clause that follows the name of what was read."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason

    def __repr__(self) -> str:
        return f"Unknown({self.reason!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unknown) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash((Unknown, self.reason))


if TYPE_CHECKING:
    Reading = Known[T_co] | Absent | Unknown
