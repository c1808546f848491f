"""Names in a policy that are needed without its model, which is slow to load."""

from __future__ import annotations

from enum import StrEnum

POLICY_FILE = ".ai/repo/policy.yaml"
"""The path of the policy, relative to the root of a checkout."""

LOCAL_POLICY = "policy.yaml"
"""The name of a clone's own policy in its state folder, which applies where no checkout in question has one."""

UNREAD = "the policy cannot be read"
"""The clause that everything uses which depends on a policy that could not be read."""

SWITCH = "session.brief_on_interval"
"""The one key that consents to waking sessions. A faulty value is never replaced by an older consent."""


class PolicySource(StrEnum):
    """Whose policy is in force in a checkout."""

    CHECKOUT = "checkout"
    PRIMARY = "primary"
    CLONE = "clone"
    DEFAULTS = "defaults"
