"""Make a small copy of the font of the figures, from which a PDF is written in less than half of the time.

matplotlib cuts the characters of a figure out of the whole font for every PDF: out of 6,000 glyphs, and tables for the
layout of Arabic and other scripts, which it never uses. The copy has the characters of European languages and no such
tables; all others still come from the whole font.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import matplotlib
from fontTools import subset
from matplotlib.font_manager import FontProperties, findfont, fontManager

from ground.writing import write_atomically

WHOLE, PART = "DejaVu Sans", "DejaVu Sans Part"
FAMILIES = [PART, WHOLE]
# Latin of Europe, Greek, punctuation, arrows, and the signs of minus, about, and comparison: every PDF reads them all.
CHARACTERS = [*range(0x20, 0x180), *range(0x391, 0x3CA), *range(0x2010, 0x2040), *range(0x2190, 0x2194), 0x2212, 0x2248,
              0x2260, 0x2264, 0x2265]  # fmt: skip
LAYOUT = ["GSUB", "GPOS", "GDEF", "kern", "MATH", "FFTM"]
FAMILY_NAMES, POSTSCRIPT_NAME = (1, 16), 6  # records of table `name` in a font


def whole(bold: bool = False) -> str:
    """Return the file of the whole font."""
    return findfont(FontProperties(family=[WHOLE], weight="bold" if bold else "normal"))


@functools.cache
def register() -> None:
    """Make the small copies, where matplotlib keeps its own files, and have matplotlib find them as `PART`."""
    for bold in (False, True):
        version = f"{len(CHARACTERS)}-{matplotlib.__version__}"
        path = Path(matplotlib.get_cachedir()) / f"waver-{Path(whole(bold)).stem}-{version}.ttf"
        if not path.is_file():
            write_atomically(path, functools.partial(_write, whole(bold)))
        fontManager.addfont(path)


def _write(source: str, target: Path) -> None:
    options: Any = subset.Options(layout_features=[], name_IDs=["*"], name_languages=["*"], notdef_outline=True)
    options.drop_tables += LAYOUT
    font = subset.load_font(source, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    for record in font["name"].names:
        if record.nameID in FAMILY_NAMES:
            record.string = PART
        elif record.nameID == POSTSCRIPT_NAME:
            record.string = f"{record.toUnicode()}Part"
    font.save(target)
