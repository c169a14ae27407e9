"""`report.html`: a bench on one page that needs nothing else, made from the files of its folder.

page.py puts sections together; tables.py, curves.py, evidence.py, graphs.py and costs.py fill them.
What they show comes from material.py, which reads, and from records.py and machine.py, which check.
pictures.py draws with matplotlib, svg.py fits drawings into the page, markup.py writes HTML.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["NAME", "write_report"]

NAME = "report.html"


def write_report(folder: Path) -> Path:
    """Make the page of the bench in `folder`; return where it is. For rank 0 alone.

    Without matplotlib the page has its tables, and a notice in place of its pictures.

    Raises
    ------
    ConfigurationError
        If a file of the folder is missing or broken, or the page cannot be written.
    """
    from bench.files import write_text
    from bench.html.material import read
    from bench.html.page import page
    from mpiddl.errors import ConfigurationError

    path = folder / NAME
    text = page(read(folder))
    try:
        write_text(path, text)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be written: {error.strerror or error}") from None
    return path
