"""The names by which a policy is known, apart from its model, which is slow to load."""

POLICY_FILE = ".ai/repo/policy.yaml"
"""Where the policy lies, from the root of each checkout."""

UNREAD = f"{POLICY_FILE} cannot be read"
"""The clause that everything uses which depends on a policy that could not be read."""

SWITCH = "session.brief_on_interval"
"""The one key that consents to waking sessions: a faulty value is never replaced by an older consent."""
