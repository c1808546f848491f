"""Tell every session of a coding agent what it needs to know, when it needs to know it, and at a known cost."""

PURPOSE = "Tell every session of a coding agent what it needs to know, when it needs to know it, and at a known cost."
"""What `--help` opens with; a docstring is not there under `-OO`."""

__version__ = "0.1.0"
