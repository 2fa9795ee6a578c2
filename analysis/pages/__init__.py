"""Hold the pages of the report, a folder each; `analysis.reporting.catalogue` finds them by scanning.

A page is a folder here, a package, with a notebook of the same name. It has

- `__init__.py`: a docstring that says what the page asks, and nothing else,
- `catalogue.py`: its `CATALOGUE`, which names its tables and figures; it imports nothing heavy,
- `columns.py`: what the columns of its tables mean,
- `tables.py`: a function per table, runs in, tidy frame out; large ones stand in files of their own,
- `figures.py`: which frames a figure is drawn from, where it is not simply a table,
- `plots.py` and `captions.py`: for every figure, a function that draws it and one that writes its caption,
- `narrative.py`: the answer in sentences, from the tables,
- `page.py` and `method.html.j2`: the parts of the page for its notebook, and how its numbers were computed.

`tests/fixtures/toy_page` is the smallest page; CONTRIBUTING lists all files of a new study.
"""
