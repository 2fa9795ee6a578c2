"""Build the site from docs/, the notebooks that the report has run, and the docstrings: `make site`.

    python docs/site/build.py --out site          # after `make report`

The pages are gathered in `build/site`, at the same places as in the checkout, so that their links stay right: Sphinx
follows those to pages, and carries the files that others name. The figures of the gallery are drawn by the very lines
that stand beside them. A warning is an error.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs" / "site"
DEMO = ROOT / "results" / "demo"
sys.path.insert(0, str(ROOT))

PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "inference/demo/models/README.md")
"""What becomes pages; files that a page links to are copied, and a folder that it links to stays a name."""
LINK = re.compile(r"(?<!!)\[(?P<text>(?:[^][]|\[[^]]*\])*)\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")
OPEN_DEMO = 'waver.open("results/demo")'
API = {
    "waver": ("The entry", ["waver", "analysis.reporting.output.exploring"]),
    "steps": ("Measures step by step", ["analysis.steps"]),
    "measures": ("Measures of the pages", ["analysis.measures", "analysis.reporting.catalogue.rewordings"]),
    "features": ("Text features", ["analysis.features"]),
    "statistics": ("Statistics", ["analysis.statistics"]),
    "errors": ("Errors", ["ground.errors"]),
}
"""Page of the reference -> its title, and the modules and packages whose public functions and classes it has."""


def main(out: Path) -> int:
    """Gather the pages, draw the gallery, write the reference, run Sphinx, and return its exit status."""
    source = ROOT / "build" / "site"
    shutil.rmtree(source, ignore_errors=True)
    if not (DEMO / "report" / "index.html").exists():
        print("docs/site/build.py: there is no results/demo/report; run `make report` first", file=sys.stderr)
        return 2
    copy_pages(source)
    copy_notebooks(source / "notebooks")
    write_gallery(source)
    write_reference(source / "api")
    shutil.rmtree(out, ignore_errors=True)
    command = [
        sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "--quiet", "--conf-dir", str(SITE),
        source, out,
    ]  # fmt: skip
    status = subprocess.run(command, check=False).returncode
    if not status:
        shutil.copytree(DEMO / "report", out / "report")
        shutil.copytree(DEMO / "weekly" / "report", out / "report-over-time")
        shutil.copy2(DEMO / "report.html", out / "report.html")
        print(out / "index.html")
    return status


def copy_pages(source: Path) -> None:
    """Copy the pages, and the files that they link to; a link to a folder becomes its text."""
    for name in PAGES:
        for page in sorted((ROOT / name).rglob("*.md")) if (ROOT / name).is_dir() else [ROOT / name]:
            if not page.is_relative_to(SITE):
                _copy_page(page, page.relative_to(ROOT), source)
    for page in [SITE / "index.md", *sorted((SITE / "papers").glob("*.md"))]:
        _copy_page(page, page.relative_to(SITE), source)


def _copy_page(page: Path, place: Path, source: Path) -> None:
    """Copy one page to its place among the pages, from where its links lead, with the files that it links to."""

    def keep_or_drop_link(link: re.Match[str]) -> str:
        target = (ROOT / place.parent / link["target"]).resolve()
        if target.is_dir():
            return link["text"]
        if target.suffix not in (".md", ".ipynb") and target.exists():
            _copy_file(target, source)
        return link[0]

    text = page.read_text(encoding="utf-8")
    for picture in re.findall(r"!\[[^]]*\]\(([^)]+)\)", text):
        _copy_file((ROOT / place.parent / picture).resolve(), source)
    if page == ROOT / "docs" / "README.md":  # which lists the pages by what they are for
        text += (
            "\n```{toctree}\n:hidden:\n"
            + "\n".join(dict.fromkeys(re.findall(r"\]\(([a-z-]+)\.md\)", text)))
            + "\n```\n"
        )
    copy = source / place
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(LINK.sub(keep_or_drop_link, text), encoding="utf-8")


def _copy_file(file: Path, source: Path) -> None:
    """Copy a file of the checkout to the same place among the pages."""
    copy = source / file.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)


def copy_notebooks(folder: Path) -> None:
    """Copy the notebooks, with the outputs of the demo's report where it has run them, and list them on a page."""
    folder.mkdir(parents=True)
    names = []
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        reports = (DEMO / "report", DEMO / "weekly" / "report")
        runs = [path for report in reports if (path := report / "notebooks" / notebook.name).exists()]
        shutil.copyfile(runs[0] if runs else notebook, folder / notebook.name)
        names.append(notebook.stem)
    listed = "\n".join(names)
    (folder / "index.md").write_text(
        "# Notebooks\n\nEach page of the report is a notebook; here they are as the report of the demo ran them. "
        "[How to change one](../docs/notebooks.md).\n\n```{toctree}\n:maxdepth: 1\n" + listed + "\n```\n",
        encoding="utf-8",
    )


def write_gallery(source: Path) -> None:
    """Draw a figure for each page of the report by the lines that stand below it, and write the page `gallery`."""
    from analysis.reporting.catalogue import map_page_names_to_catalogues

    sections = []
    pages = map_page_names_to_catalogues()
    (source / "gallery").mkdir()
    for entry in tomllib.loads((SITE / "gallery.toml").read_text(encoding="utf-8"))["figure"]:
        file, page = f"gallery/{entry['page']}.svg", pages[entry["page"]]
        lines = [
            "import waver",
            f"run = {entry.get('open', OPEN_DEMO)}",
            f"print(run.figures()[{entry['name']!r}])".replace("'", '"'),
            f"figure = run.figure({entry['name']!r}, part=1)".replace("'", '"'),
            f'figure.savefig("{entry["name"]}.svg")',
        ]
        run_lines(lines[:-1], source / file)
        title, report = page.figures[entry["name"]].title, entry.get("report", "report")
        sections.append(
            f'## {title}\n\nPage `{entry["page"]}` of the <a href="{report}/{entry["page"]}.html">report</a>.\n\n'
            f"![{title}]({file})\n\n"
            "```python\n" + "\n".join(lines) + "\n```\n"
        )
    head = "# Gallery\n\nOne figure for each page of the report, and the lines that draw it, after `make report`.\n\n"
    (source / "gallery.md").write_text(head + "\n".join(sections), encoding="utf-8")


def run_lines(lines: list[str], file: Path) -> None:
    """Run the lines of an entry of the gallery, and write the figure that they leave."""
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    figure = names["figure"]
    file.write_text(figure._repr_svg_(), encoding="utf-8")  # type: ignore[attr-defined]


def write_reference(folder: Path) -> None:
    """Write a page of the reference for every entry of `API`, from the docstrings, and a page that lists them."""
    folder.mkdir()
    for name, (title, modules) in API.items():
        blocks = [f"{title}\n{'=' * len(title)}\n"]
        for module in [found for root in modules for found in list_modules(root)]:
            blocks += _list_entries(module)
        (folder / f"{name}.rst").write_text("\n".join(blocks), encoding="utf-8")
    listed = "\n".join(API)
    (folder / "index.md").write_text(
        "# Reference\n\nEvery public function that the notebooks call, from its docstring. [Python](../docs/python.md) "
        "has examples of the first ones.\n\n```{toctree}\n:maxdepth: 2\n" + listed + "\n```\n",
        encoding="utf-8",
    )


def list_modules(root: str) -> list[str]:
    """List a module, or a package and all modules in it."""
    path = getattr(importlib.import_module(root), "__path__", None)
    return [root, *(module.name for module in pkgutil.walk_packages(path, f"{root}."))] if path else [root]


def _list_entries(name: str) -> list[str]:
    """Write the heading of a module and an entry for each public function and class; first those of its `__all__`."""
    module = importlib.import_module(name)
    handed_on = getattr(module, "__all__", ())
    # A module may import what it hands on when it is asked for: then `vars` lacks it.
    contents = {key: getattr(module, key) for key in dict.fromkeys([*handed_on, *vars(module)])}
    members = [
        (key, value)
        for key, value in contents.items()
        if not key.startswith("_") and (getattr(value, "__module__", "") == name or key in handed_on) and value.__doc__
        and (inspect.isclass(value) or inspect.isfunction(inspect.unwrap(value)))
    ]  # fmt: skip
    if not members:
        return []
    members.sort(key=lambda member: member[0] not in handed_on)
    about = (module.__doc__ or "").partition("\n")[0]
    blocks = [f"{name}\n{'-' * len(name)}\n\n{about}\n"]
    for key, value in members:
        kind = "autoclass" if inspect.isclass(value) else "autofunction"
        option = "   :members:\n" if inspect.isclass(value) else ""
        blocks.append(f".. {kind}:: {name}.{key}\n{option}")
    return blocks


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "site", metavar="DIR", help="default: site")
    sys.exit(main(parser.parse_args().out))
