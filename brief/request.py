"""The context of a request: the checkout that it is about, with its policy, its HEAD and what a brief notes of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from brief.core.model.brief import Repository
from brief.core.model.errors import GitError, RepositoryError
from brief.core.policy.settings import Settings
from brief.core.text.sanitize import clean, to_wire
from brief.fastpath.known import Known
from brief.fastpath.locate import Located
from brief.git.place import checkout_at, describe_repository, head_of, primary_root
from brief.git.worktree_cache import WorktreeCache
from brief.git.worktrees import Checkout
from brief.policy import Policy, PolicyCache
from brief.sections.context import SectionContext, SectionQuery
from brief.sections.notice_folders import notice_folders
from brief.support.zone import zone_doubt
from brief.trust import Effective, Trust, apply_trust

HOOK_GIT_SECONDS = 0.2
"""How long a request waits for git to list the checkouts while a hook waits for the answer."""

PRIMARY = ""
"""A root that no checkout has: the primary checkout, or the first one that is not bare."""


class CheckoutConfig(NamedTuple):
    """A checkout, its policy, and the part of the policy that is in force there."""

    here: Located
    policy: Policy
    effective: Effective

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self.effective.settings


class RequestContext(Struct, frozen=True):
    """A checkout at the moment of a request: the query, and everything in its brief but the sections.

    `hurried` says whether a hook waits for the answer. Its sections then have less time; one that needs more is unread.
    """

    here: Located
    query: SectionQuery
    repository: Repository
    context: SectionContext
    policy: Policy
    notes: tuple[str, ...]
    hurried: bool

    @property
    def notice_folders(self) -> tuple[str, ...]:
        """The folders of notices of the checkout, that of the repository first."""
        return notice_folders(self.context.state_dir, self.query)


class Requests:
    """Makes the context of each request to one repository, whose sections read `context`.

    `remarks` returns whole sentences for the notes of every brief. `refresh` is called before each request that no hook
    waits for.
    """

    def __init__(
        self,
        context: SectionContext,
        worktrees: WorktreeCache,
        *,
        remarks: Callable[[], tuple[str, ...]],
        refresh: Callable[[], None],
    ) -> None:
        self._context = context
        self._worktrees = worktrees
        self._remarks = remarks
        self._refresh = refresh
        self._policies = PolicyCache()

    def checkout_config(self, root: str) -> CheckoutConfig:
        """The policy of the checkout that holds the folder `root`. Blocks on files.

        Raises RepositoryError if the checkout is not one of this repository.
        """
        here = checkout_at(self._resolve(root))
        if here.common_dir != self._context.common_dir:
            raise RepositoryError(
                f"{clean(to_wire(here.root))} is not a checkout of {clean(to_wire(self._context.common_dir))}"
            )
        policy = self._policies.read(here.root, here.common_dir)
        return CheckoutConfig(
            here,
            policy,
            apply_trust(
                policy.settings, Trust.of_person(self._context.common_dir), self._context.common_dir, here.root
            ),
        )

    def request_context(
        self, root: str, session: str | None = None, *, local: bool = False, hurried: bool = False
    ) -> RequestContext:
        """The context of a request about the checkout that holds the folder `root`. Blocks on files, not on git.

        Raises RepositoryError if the checkout is not one of this repository.
        """
        if not hurried:
            self._refresh()
        here, policy, (settings, untrusted, unmet) = self.checkout_config(root)
        context = replace(self._context, worktrees=self._hurried_worktrees) if hurried else self._context
        head = head_of(here, context.worktrees)
        place = describe_repository(here, head)
        query = SectionQuery(
            root=here.root,
            settings=settings,
            session=session,
            local=local,
            untrusted=untrusted,
            is_policy_unread=policy.is_unread,
            is_unborn=isinstance(head, Known) and head.value.commit is None,
            primary=primary_root(here),
            branch=head.value.branch if isinstance(head, Known) else None,
        )
        notes = (*(fault.sentence for fault in policy.faults), *unmet, *_find_doubts(settings), *self._remarks())
        return RequestContext(
            here=here,
            query=query,
            repository=place,
            context=context,
            policy=policy,
            notes=tuple(clean(text, 600) for text in notes),
            hurried=hurried,
        )

    def _hurried_worktrees(self) -> tuple[Checkout, ...]:
        return self._worktrees.read(HOOK_GIT_SECONDS)

    def _resolve(self, root: str) -> str:
        """The folder that a wire name denotes. Bytes that are not UTF-8 are escaped on the wire."""
        if root == PRIMARY:
            parent, name = os.path.split(self._context.common_dir)
            return (
                parent if name == ".git" else self._first_checkout(lambda tree: not tree.bare and not tree.gone, parent)
            )
        if "\\" not in root or os.path.isdir(root):
            return root
        return self._first_checkout(lambda tree: to_wire(tree.root) == root, root)

    def _first_checkout(self, is_meant: Callable[[Checkout], bool], otherwise: str) -> str:
        """The root of the first checkout in git's list that is meant, or `otherwise` if there is none."""
        with contextlib.suppress(GitError):
            return next((tree.root for tree in self._context.worktrees() if is_meant(tree)), otherwise)
        return otherwise


def _find_doubts(settings: Settings) -> tuple[str, ...]:
    doubt = zone_doubt(settings)
    return () if doubt is None else (doubt,)
