"""Every study is cited alike: on its pages, in README and in CITATION.cff."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from analysis.reporting import catalogue
from analysis.reporting.output import provenance
from analysis.reporting.words import citations

ROOT = Path(citations.__file__).parents[3]
STUDIES = citations.read_published_studies()


def test_every_study_has_a_page_and_every_page_about_one_protocol_a_study():
    pages = catalogue.map_page_names_to_catalogues().values()
    assert {name for page in pages for name in page.studies} == set(STUDIES)
    # Scores that others made, and rating scales, repeat no study: their sources stand in docstrings and docs.
    repeats_none = ({"scored"}, {"scale"})
    assert all(page.studies for page in pages if len(page.protocols) == 1 and page.protocols not in repeats_none)


@pytest.mark.parametrize(
    "page", [name for name, entry in catalogue.map_page_names_to_catalogues().items() if entry.studies]
)
def test_a_page_cites_the_study_that_it_repeats(page):
    named = catalogue.map_page_names_to_catalogues()[page].studies
    cited = [STUDIES[name] for name in named]
    foot = provenance.render_footer(named, [])
    for study in cited:
        assert study.title in foot.replace("&#39;", "'")
        assert study.year in foot
        for address in study.links.values():
            assert f'<a href="{address}">' in foot


def test_waver_itself_is_cited_as_its_citation_file_says():
    stated = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (stated["title"], stated["authors"]) == (citations.TOOL.title, [{"name": citations.TOOL.authors}])
    assert citations.TOOL.year == str(stated["date-released"].year)
    assert citations.TOOL.note == f"Software, version {stated['version']}"
    assert citations.TOOL.title in provenance.render_footer([], [])


@pytest.mark.parametrize("name", STUDIES)
def test_bibtex_of_a_study_holds_what_its_entry_says(name):
    """Read back with a reader of a few lines: fields are `name = {value},` with balanced braces."""
    own, study = citations.render_bibtex({name: STUDIES[name]}).split("\n\n")[1], STUDIES[name]
    kind, key = re.match(r"@(\w+)\{(\w+),\n", own).groups()
    fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", own, re.M))
    assert own.count("{") == own.count("}")
    assert key == name + fields["year"] and fields["year"] in study.year
    assert kind == ("inproceedings" if study.venue else "misc")
    assert fields["title"] == f"{{{study.title}}}"
    assert [who.strip("{}") for who in fields["author"].split(" and ")] == study.authors.split(", ")
    assert fields.get("booktitle", "") == study.venue
    assert fields["url"] in study.links.values()
    for what in study.links:
        assert what.partition(":")[2] in own


def test_bibtex_writes_what_latex_would_read_as_commands_as_signs():
    study = citations.PublishedStudy("A & B", "2020", r"50 % of $x_1$ {~^\}", links={"code": "https://x.org/a_b"})
    own = citations.render_bibtex({"x": study})
    assert r"title = {{50 \% of \$x\_1\$ \{\textasciitilde{}\textasciicircum{}\textbackslash{}\}}}" in own
    assert "https://x.org/a_b" in own  # an address stands as it is


@pytest.mark.parametrize("name", STUDIES)
def test_readme_and_citation_file_name_every_study(name):
    study = STUDIES[name]
    assert re.fullmatch(r"\d{4}|\[\d{4}\]", study.year)
    assert study.links
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert study.title in readme
    assert all(address in readme for address in study.links.values())
    listed = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    entry = next(entry for entry in listed if entry["title"] == study.title)
    assert [_printed(who["given-names"], who["family-names"]) for who in entry["authors"]] == study.authors.split(", ")
    assert set(study.links.values()) <= {
        entry.get("url"),
        entry.get("repository-code"),
        f"https://doi.org/{entry.get('doi')}",
    }
    assert str(entry.get("year", study.year)) == study.year


def _printed(given, family):
    """A name as it is printed: in Japanese script, the family name comes first and no blank follows it."""
    return f"{given} {family}" if given.isascii() or family[0] < "\u3040" else f"{family}{given}"
