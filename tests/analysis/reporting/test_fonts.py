"""The small copy of the font of the figures."""

from __future__ import annotations

import re

import pytest
from fontTools.ttLib import TTFont
from matplotlib.font_manager import FontProperties, findfont

from analysis.reporting import fonts, plotting


@pytest.mark.parametrize("weight", ["normal", "bold"])
def test_the_copy_has_the_same_characters_in_the_same_widths(weight):
    fonts.register()
    copy = TTFont(findfont(FontProperties(family=[fonts.PART], weight=weight), fallback_to_default=False))
    whole = TTFont(fonts.whole(weight == "bold"))
    assert copy["name"].getDebugName(1) == fonts.PART
    assert ("Bold" in copy["name"].getDebugName(2)) == (weight == "bold")
    assert not set(fonts.LAYOUT) & set(copy.keys())
    held = [code for code in fonts.CHARACTERS if code in whole.getBestCmap()]
    assert len(held) > 400
    for code in held:
        name, other = copy.getBestCmap()[code], whole.getBestCmap()[code]
        assert copy["hmtx"][name] == whole["hmtx"][other], chr(code)


def test_figures_embed_the_copy_and_what_it_lacks_from_the_whole_font(tmp_path):
    @plotting.styled
    def draw(title):
        figure = plotting.Drawing(figsize=(3, 2))
        figure.subplots().set_title(title)
        return figure

    used = {}
    for title in ("agreement · τ ≤ 0.5", "согласие"):
        vector, document = plotting.save(draw(title), tmp_path / title[:4])
        used[title] = set(re.findall(rb"/FontName /[A-Z+-]*?(DejaVuSans\w*)", document.read_bytes()))
        assert title in vector.read_text(encoding="utf-8")
        assert fonts.PART not in vector.read_text(encoding="utf-8")
    assert len(used["согласие"]) == 2 > len(used["agreement · τ ≤ 0.5"])
