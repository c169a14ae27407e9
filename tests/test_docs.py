"""What the documents say can be done, can be done: links, commands, names, examples."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from mpiddl.recipes import recipes

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("mpiddl", "theory", "bench")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for name in PACKAGES for page in (ROOT / name).rglob("*.md"))]
)
SOURCES = sorted(file for name in PACKAGES for file in (ROOT / name).rglob("*.py"))
EXAMPLES = [file for file in SOURCES if ">>> " in file.read_text("utf-8")]

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def blocks(text: str, *languages: str) -> list[str]:
    """The fenced blocks of `text` in one of `languages`."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [body for language, body in fenced if language in languages]


def links(text: str) -> list[str]:
    """Targets of the links and pictures in `text` that point into this tree."""
    prose = re.sub(r"^```.*?^```|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^()\s]+)\)", prose) + re.findall(r'(?:src|href)="([^"]+)"', prose)
    return [target for target in targets if "://" not in target and "mailto:" not in target]


def anchors(text: str) -> set[str]:
    """The anchors that a page's headings make."""
    headings = re.findall(r"^#+ +(.+?) *$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    """Those links of `page` that lead nowhere."""
    broken = []
    for target in links(text):
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists():
            broken.append(target)
        elif anchor and there.suffix == ".md":
            other = text if there == page else there.read_text("utf-8")
            broken += [target] if anchor not in anchors(other) else []
    return broken


def commands(text: str) -> Iterator[list[str]]:
    """The words of every command in the shell blocks of `text`."""
    for block in blocks(text, "bash", "sh", "shell", "console"):
        joined = block.replace("\\\n", " ")
        lines = [line.strip() for line in joined.splitlines()]
        if any(line.startswith("$ ") for line in lines):  # a session: the rest is output
            lines = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
        for line in lines:
            for command in re.split(r"&&|\|\||[;|]", line):
                if words := shlex.split(command, comments=True):
                    yield words


def impossible(words: list[str]) -> str | None:
    """Say what of a command does not exist here, or None."""
    if words[0] == "make":
        targets = set(
            re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
        )
        asked = [
            word
            for before, word in pairwise(words)
            if before not in ("-C", "-f") and re.fullmatch(r"[a-z][\w-]*", word)
        ]
        missing = [target for target in asked if target not in targets]
        return f"no target {missing[0]}" if missing else None
    for flag, module in pairwise(words):
        if flag == "-m" and module.partition(".")[0] in PACKAGES:
            path = ROOT / module.replace(".", "/")
            if not (path.with_suffix(".py").exists() or (path / "__main__.py").exists()):
                return f"no module {module}"
        if flag.endswith("python") and module.endswith(".py") and "/" in module:
            if not (ROOT / module).exists():
                return f"no file {module}"
    return None


def unknown_names(code: str) -> Iterator[str]:
    """Names that `code` imports from the packages and that they do not have."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES:
            module = importlib.import_module(node.module or "")
            yield from (name.name for name in node.names if not hasattr(module, name.name))


@every_page
def test_links_lead_somewhere(page: Path):
    assert not broken_links(page, page.read_text("utf-8"))


@every_page
def test_commands_exist(page: Path):
    wrong = [(words, impossible(words)) for words in commands(page.read_text("utf-8"))]
    assert not [(words, reason) for words, reason in wrong if reason]


@every_page
def test_examples_print_what_the_page_says(page: Path):
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert not doctest.testfile(str(page), module_relative=False, optionflags=flags).failed


@every_page
def test_names_that_examples_import_exist(page: Path):
    code = [block for block in blocks(page.read_text("utf-8"), "python") if ">>> " not in block]
    assert not [name for block in code for name in unknown_names(block)]


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: str(file.relative_to(ROOT)))
def test_examples_in_docstrings_print_what_they_say(file: Path):
    module = importlib.import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))
    assert not doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed


def test_the_table_of_algorithms_has_every_recipe_as_the_rooms_compose_it():
    block = re.search(
        r"<!-- recipes -->(.*?)<!-- /recipes -->", (ROOT / "README.md").read_text(), re.S
    )
    rows = [row for row in (block[1] if block else "").splitlines() if "](mpiddl/recipes" in row]
    told = {}
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("| ").split(" | "))
        told[re.findall(r"`(.*?)`", name)[0]] = cells
    assert list(told) == list(recipes)
    for name, (when, whom, words, theorems) in told.items():
        parts = re.split(r"\s/\s", str(recipes[name]()))
        written = [re.findall(r"`(.*?)`", cell) for cell in (when, whom, words)]
        assert [written[0][0], written[1][0], written[2][0]] == parts[:3], name
        assert set(written[2][1:]) <= set(parts[3:]), name
        for theorem, file in re.findall(r"\[([\w-]+)\]\((theory/.*?)\)", theorems):
            module = importlib.import_module(file.removesuffix(".py").replace("/", "."))
            assert theorem in {one.name for one in module.THEOREMS}, name


def test_what_is_wrong_is_reported():
    assert broken_links(ROOT / "README.md", "[a](nowhere.md) [b](LICENSE) [c](#no)\n# Yes\n") == [
        "nowhere.md",
        "#no",
    ]
    text = "```bash\nmake tset\nmpirun -np 4 python -m mpiddl.bnech\nmake -C x bench NP=3\n```"
    assert [bool(impossible(words)) for words in commands(text)] == [True, True, False]
    assert list(unknown_names("from mpiddl.errors import Deadlock, Livelock")) == ["Livelock"]
