"""The brief, in the form that was asked for."""

from __future__ import annotations

from sandbox import Lab


def test_a_narrow_page_begins_with_the_line_of_that_width(lab: Lab) -> None:
    """Its first line loses whole pieces as the line does, and is not just cut."""
    lab.commit()
    line = lab.majordomus("brief", "--line", "--width", "30").stdout
    assert line == "peers ? · queue ? · alerts 0\n"
    assert lab.majordomus("brief", "--width", "30").stdout.startswith(line)
