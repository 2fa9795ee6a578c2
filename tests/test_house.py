"""The rules of the house that a machine can check: what stands where, and who may know whom."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from analysis.reporting.catalogue import map_page_names_to_catalogues
from analysis.reporting.catalogue.rewordings import import_reader_function, list_readers_by_protocol
from helpers.sources import ROOT, list_modules, list_nodes_by_module
from inference import protocols

pytestmark = pytest.mark.slow

PAGES = ROOT / "analysis" / "pages"
TOY = ROOT / "tests" / "fixtures" / "toy_page" / "analysis" / "pages" / "toy"  # the smallest page
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NO_PAGE = {"explore", "compare"}  # to begin with; and about two sides, which no report has
FILES = {"__init__.py", "catalogue.py", "columns.py", "tables.py", "figures.py", "plots.py", "captions.py",
         "narrative.py", "page.py", "method.html.j2"}  # fmt: skip

# The layers of each wing and of the ground below both, the top one first; a wing's own name stands for its __init__.
# A module imports from its own part and from the layers below, never from above or from the other parts of its layer.
LAYERS = {
    "analysis": [
        {"analysis", "__main__"}, {"pages", "export", "check"}, {"compare"}, {"reporting"}, {"steps"}, {"features"},
        {"measures"}, {"statistics"}, {"runs"},
    ],
    "inference": [
        {"from_python"}, {"__main__"}, {"runfile", "loaded_models"},
        {"protocols"}, {"meaning"}, {"paraphrase", "tune", "judge"}, {"importers"}, {"arguments"}, {"asking"},
        {"demo"}, {"engines", "runfolder"}, {"negating"}, {"stimuli"}, {"inference"},
    ],
    "ground": [
        {"command", "commands", "spreadsheet"}, {"parser", "progress", "run_json", "version", "writing"},
        {"extras", "impossible_rows", "languages", "locking", "numerals", "outside_rooms", "meaning"},
        {"errors", "importing", "shipped"}, {"signals"}, {"ground"},
    ],
}  # fmt: skip
# The only page that uses another's numbers, and the files of it that it may import.
SHARING = {("text_features", "stability"): {"printed"}}
# Functions whose first argument is the name of a table or a figure.
LOOK_UP = {"build_pictures", "build_table", "collect_table_options", "convert_options_to_types_of_defaults", "figure",
           "find_page_name_of_entry", "frame", "list_table_options", "look_up_column", "look_up_figure",
           "look_up_table", "render_table_in_text_format", "section", "table"}  # fmt: skip
HEAVY = ("matplotlib", "duckdb", "statsmodels", "scipy", "papermill", "jinja2")


# Words that are columns, measures and parts of sentences, too: they count where a statement speaks of protocols.
WORDS = {"agreement", "choice", "meaning", "scale", "scales", "scored", "wording"}
# Protocols that are never asked: their runs come from importers.
IMPORTED = {"scored", "accuracies"}
# Who names a protocol outside its folder, and why; a page may also name the protocols that its catalogue declares.
NAMING = {
    "analysis.measures.agreement": "reads the rows of this protocol, for several pages",
    "analysis.measures.choices": "reads the rows of this protocol, for several pages",
    "analysis.measures.scores": "reads the rows of this protocol, for several pages",
    "analysis.measures.ratings": "reads the rows of this protocol, for several pages",
    "analysis.measures.reworded.scored": "reads the rows of this protocol, for several pages",
    "inference.importers.shared.scored": "writes the rows of this protocol, for several importers",
    "inference.meaning.questions": "its questions to checks are no study of a page, which has the same name",
    "inference.importers.tables.long": "a table of answers to statements is a run of this protocol",
}


@functools.cache
def imports(name: str) -> frozenset[str]:
    """Modules of this repository that a module imports anywhere in it: inside functions and for types, too."""
    found = set()
    for node in list_nodes_by_module()[name]:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name} imports relatively"
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside & list_modules().keys() or {str(node.module)}
    return frozenset(found & list_modules().keys() - {name})


def runs_first(name: str) -> set[str]:
    """What Python runs before a module is whole: what it imports, and the packages around that; not its own ones.

    `analysis.pages.wording.tables`, imported by `analysis.pages.benchmarks.tables`, runs the packages
    `analysis.pages.wording`, `analysis.pages` and `analysis`; the last two are running already.
    """
    around = {package for target in imports(name) for package in parents(target)}
    return imports(name) | around - set(parents(name)) - {name}


def parents(name: str) -> Iterator[str]:
    """The packages that a module is in: of "a.b.c", "a.b" and "a"."""
    while "." in name:
        name = name.rpartition(".")[0]
        yield name


def layer(name: str) -> tuple[int, str]:
    """The number of a module's layer, counted from the top, and the part of it that the module belongs to."""
    wing, *rest = name.split(".")
    part = rest[0] if rest else wing
    return next(number for number, parts in enumerate(LAYERS[wing]) if part in parts), part


@pytest.mark.parametrize("part", LAYERS)
def test_the_wings_meet_only_on_the_ground_and_in_the_run_folder(part):
    mine = [name for name in list_modules() if name.split(".")[0] == part]
    assert mine
    assert {target.split(".")[0] for name in mine for target in imports(name)} <= {part, "ground"}


@pytest.mark.parametrize("wing", LAYERS)
def test_imports_go_down_the_layers(wing):
    wrong = []
    for name in (name for name in list_modules() if name.split(".")[0] == wing):
        for target in (target for target in imports(name) if target.split(".")[0] == wing):
            (mine, part), (its, other) = layer(name), layer(target)
            if part != other and mine >= its:
                wrong.append(f"{name} -> {target}")
    assert wrong == []


def test_a_page_imports_another_only_where_it_shares_numbers():
    wrong = []
    for name in list_modules():
        for target in imports(name):
            if name.startswith("analysis.pages.") and target.startswith("analysis.pages."):
                (mine, _), (its, file) = ((*part.split("."), "")[2:4] for part in (name, target))
                if mine != its and file not in SHARING.get((mine, its), ()):
                    wrong.append(f"{name} -> {target}")
    assert wrong == []


@pytest.mark.parametrize("wing", LAYERS)
def test_no_import_goes_in_a_circle(wing):
    graph = {name: runs_first(name) for name in list_modules() if name.split(".")[0] == wing}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def has_source(folder: Path) -> bool:
    """Whether a folder holds more than what Python leaves of one that another branch has."""
    return any(path.is_file() and path.parent.name != "__pycache__" for path in folder.rglob("*"))


def test_a_page_is_a_folder_with_its_files_and_a_notebook():
    folders = sorted(path.name for path in PAGES.iterdir() if has_source(path))
    assert folders == sorted(map_page_names_to_catalogues()) == sorted({path.stem for path in NOTEBOOKS} - NO_PAGE)
    assert {path.name for path in TOY.iterdir() if path.is_file()} == FILES
    for folder in (TOY, *(PAGES / name for name in folders)):
        assert {path.name for path in folder.iterdir()} >= FILES, folder
        (said,) = ast.parse((folder / "__init__.py").read_text(encoding="utf-8")).body
        assert isinstance(said, ast.Expr) and isinstance(said.value, ast.Constant), folder


@pytest.mark.parametrize(
    "notebook", [path for path in NOTEBOOKS if path.stem not in NO_PAGE], ids=lambda path: path.stem
)
def test_a_notebook_answers_shows_a_figure_and_then_what_weakens_the_answer(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    tags = [cell["metadata"].get("tags", [""])[0] for cell in cells]
    place = tags.index("answer")
    assert tags[place : place + 2] == ["answer", "figure"]
    assert [cells[place]["source"], cells[place + 2]["source"]] == [["page.answer()"], ["page.cautions()"]]
    assert cells[-1]["source"] == ["page.provenance()"]  # it names what no cell before has shown


def test_pages_stand_in_an_order_and_own_their_names():
    catalogues = map_page_names_to_catalogues().values()
    assert len({page.place for page in catalogues}) == len(catalogues)
    for what in ("tables", "figures"):
        named = [name for page in catalogues for name in getattr(page, what)]
        assert len(set(named)) == len(named)


@pytest.mark.parametrize("page", map_page_names_to_catalogues())
def test_nobody_else_names_the_tables_and_figures_of_a_page(page):
    """Not at all where the name is no common word (`score_items`); of others (`items`), nobody looks up the table."""
    owned = {*map_page_names_to_catalogues()[page].tables, *map_page_names_to_catalogues()[page].figures}
    wrong = []
    for name in list_modules():
        if not name.startswith(("inference", f"analysis.pages.{page}.")):
            wrong += [f"{name}: {text}" for text in sorted(list_named_texts(name) & owned)]
    assert wrong == []


@functools.cache
def list_named_texts(name: str) -> set[str]:
    """The texts of a module that may name a table or figure: those with an underscore, and what is looked up."""
    nodes = list_nodes_by_module()[name]
    return {text for text in literals(nodes) if "_" in text} | set(literals(looked_up(nodes)))


def own_names(name: str) -> set[str]:
    """What a module may name: the page or protocol in whose folder it is, and the protocols that the page declares."""
    _, room, own, *_ = (*name.split("."), "", "", "")
    if room == "pages" and own in map_page_names_to_catalogues():
        return {own, *map_page_names_to_catalogues()[own].declared_protocols}
    return {own} if room == "protocols" else set()


def test_nothing_outside_its_folder_names_a_page_or_a_protocol():
    known = {*map_page_names_to_catalogues(), *protocols.list_protocols()}
    wrong, excused = [], set()
    for name in (*list_modules(), "waver"):
        others = known - own_names(name)
        for named in sorted({text for text in named_in(name) if text in others}):
            excused.add(name)
            wrong += [f"{name}: {named}"] if name not in NAMING else []
    assert wrong == []
    assert excused == NAMING.keys()


def named_in(name: str) -> Iterator[str]:
    """The texts of a module that may be names of pages or protocols: whole literals, and parts of paths and imports."""
    nodes = list_nodes_by_module()[name]
    lines = list_modules().get(name, ROOT / "waver.py").read_bytes().splitlines(keepends=True)
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for text in literals(node for node in nodes if id(node) not in docstrings):
        yield from re.findall(r"(?:inference[./]protocols|analysis[./]pages)[./](\w+)", text)
        if text not in WORDS:
            yield text
    for part in nodes:
        # A statement without others in it, or what a compound one asks for.
        head = getattr(part, "test", None) or getattr(part, "iter", None)
        if head is None and isinstance(part, ast.stmt) and not hasattr(part, "body"):
            head = part
        if head is not None and "protocol" in written(lines, head).lower():
            yield from literals(ast.walk(head))


def written(lines: list[bytes], node: ast.AST) -> str:
    """The text of a node, as `ast.get_source_segment`, which would part the whole file into lines for each node."""
    own = lines[node.lineno - 1 : node.end_lineno]
    own[-1] = own[-1][: node.end_col_offset]
    own[0] = own[0][node.col_offset :]
    return b"".join(own).decode()


def test_only_its_own_folder_imports_a_page_or_a_protocol():
    wrong = []
    for name in list_modules():
        for target in imports(name):
            _, room, own, file, *_ = (*target.split("."), "", "", "", "")
            outside = room in ("pages", "protocols") and own and own not in own_names(name)
            if outside and file not in SHARING.get((name.split(".")[2], own), ()):
                wrong.append(f"{name} -> {target}")
    assert wrong == []


def test_every_protocol_has_one_reader_of_its_wordings_or_a_reason_why_not():
    naming = [
        (protocol, page)
        for page in map_page_names_to_catalogues().values()
        if page.rewordings
        for protocol in page.declared_protocols
    ]
    assert len({protocol for protocol, _ in naming}) == len(naming)
    for reader in list_readers_by_protocol().values():
        assert callable(import_reader_function(reader.read_studies)) and callable(
            import_reader_function(reader.has_rewordings)
        )
    reasons = {
        protocol
        for page in map_page_names_to_catalogues().values()
        if page.why_not_compared
        for protocol in page.declared_protocols
    }
    assert set(protocols.list_protocols()) | IMPORTED == set(list_readers_by_protocol()) | reasons


def literals(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def looked_up(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    """What stands where a table or figure is named: `table(HERE)`, `frames[HERE]`."""
    for node in nodes:
        if isinstance(node, ast.Call) and node.args and called(node.func) in LOOK_UP:
            yield node.args[0]
        elif isinstance(node, ast.Subscript) and called(node.value) == "frames":
            yield node.slice


def called(node: ast.AST) -> str:
    """The last name of `a.b.c` or `c`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def loaded(code: str, *names: str) -> list[str]:
    """Which of these packages a fresh interpreter has loaded after some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*(n for n in {names!r} if n in sys.modules))"],
        cwd=ROOT, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_listing_tables_loads_nothing_heavy():
    code = (
        "from analysis.reporting import catalogue; from analysis.reporting.catalogue import tables\nassert "
        "catalogue.map_page_names_to_catalogues() and tables.explain_tables()"
    )
    assert loaded(code, "pandas", "numpy", "pyarrow", *HEAVY) == []


def test_the_sentences_of_pages_need_no_drawing_no_database_and_no_fitting():
    """Those of all pages together: each takes most of a second to start."""
    assert (
        loaded("\n".join(f"import analysis.pages.{page}.narrative" for page in map_page_names_to_catalogues()), *HEAVY)
        == []
    )


def test_a_comparison_of_runs_does_not_wait_for_all_distributions_of_scipy():
    assert loaded("import analysis.compare.command, analysis.compare.measures", "scipy.stats", "statsmodels") == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_thin_and_have_no_outputs(notebook):
    cells = [cell for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    sources = ["".join(cell["source"]) for cell in cells]
    assert len(sources) <= 45
    assert max(len(source.splitlines()) for source in sources) <= 12
    logic = (ast.FunctionDef, ast.Lambda, ast.If, ast.IfExp, ast.For, ast.While, ast.Try, ast.comprehension)
    assert not [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, logic)]


def test_the_package_imports_no_package_whose_licence_would_bind_it():
    """Pingouin and krippendorff are under the GPL: notebooks and tests import them, what is installed does not."""
    for module, nodes in list_nodes_by_module().items():
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not [name for name in names if name.split(".")[0] in ("pingouin", "krippendorff")], module


def test_what_runs_keep_has_a_key_of_its_own():
    """`Runs.compute_once` returns what was kept first: two makers with one key would get each other's."""
    sources = [path.read_text("utf-8") for path in (ROOT / "analysis").rglob("*.py") if path.name != "database.py"]
    keys = [key for source in sources for key in re.findall(r'runs\.compute_once\("([^"]+)"', source)]
    assert len(keys) > 10 and len(keys) == len(set(keys))


def test_every_folder_has_quick_tests():
    """`make quick` leaves out what is marked slow; a whole file is by its `pytestmark`."""
    files = [file for file in (ROOT / "tests").glob("*/**/test_*.py") if file.parent.name != "real_vllm"]
    slow = {
        file
        for file in files
        if re.search(r"^pytestmark\b[^=]*=[^\n]*\n?[^\n]*mark\.slow", file.read_text("utf-8"), re.M)
    }
    assert slow and {file.parent for file in files} == {file.parent for file in files if file not in slow}


def test_runs_are_not_committed():
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "results"], cwd=ROOT, capture_output=True, text=True, check=True)
    kept = ("results/schema.json", "results/published/")
    assert all(name.startswith(kept) for name in listed.stdout.split())
