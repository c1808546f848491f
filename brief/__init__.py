"""What every session of a coding agent must know, when it must know it, and at what cost."""

PURPOSE = "What every session of a coding agent must know, when it must know it, and at what cost."
"""What `--help` opens with; a docstring is not there under `-OO`."""

__version__ = "0.1.0"
