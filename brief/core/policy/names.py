"""Names in a policy that are needed without its model, which is slow to load."""

POLICY_FILE = ".ai/repo/policy.yaml"
"""The path of the policy, relative to the root of a checkout."""

UNREAD = f"{POLICY_FILE} cannot be read"
"""The clause that everything uses which depends on a policy that could not be read."""

SWITCH = "session.brief_on_interval"
"""The one key that consents to waking sessions. A faulty value is never replaced by an older consent."""
