"""Reads a page of the report."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """Tags, addresses, ids and visible text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.in_picture = 0
        self.tags, self.addresses, self.ids, self.text, self.style = [], [], [], [], ""
        self.feed(path.read_text(encoding="utf-8"))
        self.words = " ".join(" ".join(self.text).replace("\N{NO-BREAK SPACE}", " ").split())

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.in_picture += tag == "svg"
        named = dict(attributes)
        self.ids += [named["id"]] if "id" in named else []
        self.addresses += [
            (tag, named[key]) for key in ("src", "href", "srcset", "data", "action", "poster") if key in named
        ]
        assert not [key for key in named if key.startswith("on")], named

    def handle_endtag(self, tag):
        self.in_picture -= tag == "svg"

    def handle_data(self, data):
        if self.in_picture:
            return
        if self.tags and self.tags[-1] == "style" and not self.style:
            self.style = data
        elif self.tags and self.tags[-1] != "script":
            self.text.append(data)
