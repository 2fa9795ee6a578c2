"""Measure, break and escape texts for LaTeX.

::

    escape_latex("50 % of {x}_y"), estimate_text_width("0.25", "footnotesize")
"""

from __future__ import annotations

import re
import unicodedata

# Widths of the characters of Computer Modern, in thousandths of its size (cmr10.tfm; Knuth 1986, Computer Modern
# Typefaces), rounded up to the widest of a group, in the encoding OT1 or T1 that has it wider. Those of Times, which
# many styles take, are hardly any wider.
_CHARACTERS_BY_WIDTH = {
    278: "',.:;[]il’‘`·", 306: "!fj", 334: "-| \u00a0", 362: "I", 395: "()rst′", 445: "cez",
    500: "0123456789\"$*/ago–“”", 528: "?Jkqvxy\\{}", 556: "Sbdhnpu", 625: "LZ~^", 681: "EFP", 723: "BCTw",
    736: "R", 750: "AHNUVXY", 785: "&+=@_DGKOQ", 834: "#%m<>−±≤≥", 917: "M", 1030: "W∞—", 1400: "…∑∏",
}  # fmt: skip
_WIDEST = 1030  # for characters that are not listed, such as those of other scripts
_PAIR_SET_APART = re.compile("[bop](?=[cdeoq])")
_PAIR_SPACE = 28  # thousandths of the size between the two
# Points that a character of width 1000 has at a size, and those that each has besides: small print is drawn wider.
_FONTS = {"footnotesize": (8.5, 0.0), "scriptsize": (7.75, 0.12), "tiny": (6.2, 0.305)}
_BOLD = 1.2
LAST_LATIN = "\u017f"
_BREAK_IN_WORD = re.compile(r"(?<=[-_/.:,;=+|>)\]}])")  # LaTeX may break a word that is too wide after these
_CHARACTER_WITH_ACCENTS = re.compile(r".[\u0300-\u036f]*")


def estimate_text_width(text: str, size: str, is_bold: bool = False) -> float:
    """Estimate the points that a line of text takes in Computer Modern: as many as LaTeX measures, or slightly more.

    Parameters
    ----------
    text
        The text, before it is escaped.
    size
        "footnotesize", "scriptsize" or "tiny", in a document of 10 pt.
    is_bold
        Whether it is set in bold type.

    Returns
    -------
    float
        The width in points.

    Examples
    --------
    >>> estimate_text_width("0.25", "footnotesize")  # three digits of 4.25 pt and a point of 2.36 pt
    15.113
    """
    characters = " ".join(text.split())
    width = sum(map(_WIDTHS.__getitem__, characters))
    width += _PAIR_SPACE * len(_PAIR_SET_APART.findall(characters))
    per_thousand, more = _FONTS[size]
    return round((per_thousand * width / 1000 + more * len(characters)) * (_BOLD if is_bold else 1.0), 6)


class _Widths(dict[str, int]):
    """Map characters to their widths in thousandths of the size; a letter with an accent is as wide as without."""

    def __missing__(self, character: str) -> int:
        self[character] = self.get(unicodedata.normalize("NFD", character)[0], _WIDEST)
        return self[character]


_WIDTHS = _Widths({character: width for width, characters in _CHARACTERS_BY_WIDTH.items() for character in characters})


def wrap_into_lines(text: str, words_width: float, size: str) -> list[str]:
    """Break a text into the lines that LaTeX sets it in, or slightly more.

    Parameters
    ----------
    text
        The text, before it is escaped.
    words_width
        Points of a line.
    size
        "footnotesize" or "scriptsize".

    Returns
    -------
    list of str
        The lines; one that ends between two words ends in a blank.

    Examples
    --------
    >>> wrap_into_lines("set mmlu_college_computer_science here", 60, "scriptsize")
    ['set mmlu_', 'college_', 'computer_', 'science here']
    """
    lines = [""]
    for word in text.split():
        lead = " " if lines[-1] else ""
        for piece in split_word_into_pieces(word, words_width, size):
            if lines[-1] and estimate_text_width(lines[-1] + lead + piece, size) > words_width:
                lines[-1] += lead
                lines.append(piece)
            else:
                lines[-1] += lead + piece
            lead = ""
    return lines


def split_word_into_pieces(word: str, words_width: float, size: str) -> list[str]:
    """Split a word where LaTeX may break it: not where it fits into a line, else after punctuation.

    A piece that is still wider than a line may be broken after every character.

    Parameters
    ----------
    word
        The word, before it is escaped.
    words_width
        Points of a line.
    size
        "footnotesize" or "scriptsize".

    Returns
    -------
    list of str
        The pieces, which together are the word.

    Examples
    --------
    >>> split_word_into_pieces("mmlu/6cd9c6502447a6f3", 60, "scriptsize")[:3]
    ['mmlu/', '6', 'c']
    >>> split_word_into_pieces("tea/coffee", 60, "scriptsize")
    ['tea/coffee']
    """
    if estimate_text_width(word, size) <= words_width:
        return [word]
    pieces: list[str] = []
    for piece in filter(None, _BREAK_IN_WORD.split(word)):
        is_wide = estimate_text_width(piece, size) > words_width
        pieces += _CHARACTER_WITH_ACCENTS.findall(piece) if is_wide else [piece]
    return pieces


_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': "''", "[": "{[}", "]": "{]}", "*": "{*}", "−": "$-$", "±": r"$\pm$", "∞": r"$\infty$",
    "≤": r"$\leq$", "≥": r"$\geq$", "…": r"\ldots{}", "–": "--", "—": "---", "“": "``", "”": "''",
    "‘": "`", "’": "'", "′": r"$'$", "\u00a0": "~",
}  # fmt: skip
# Greek letters, and signs of sets and relations, by their commands in math mode.
_MATH = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "ς": "varsigma",
    "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "varphi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega",
    "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon",
    "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "∪": "cup", "∩": "cap", "∈": "in", "∉": "notin", "∋": "ni", "∅": "emptyset",
    "⊂": "subset", "⊆": "subseteq", "⊃": "supset", "⊇": "supseteq", "≠": "neq", "≈": "approx", "≡": "equiv",
    "∼": "sim", "≃": "simeq", "≅": "cong", "∝": "propto", "≪": "ll", "≫": "gg", "→": "rightarrow", "←": "leftarrow",
    "↔": "leftrightarrow", "⇒": "Rightarrow", "⇔": "Leftrightarrow", "∀": "forall", "∃": "exists", "∧": "wedge",
    "∨": "vee", "⊕": "oplus", "⊗": "otimes", "∘": "circ", "⋅": "cdot", "√": "surd", "∑": "sum", "∏": "prod",
    "∫": "int", "∂": "partial", "∇": "nabla", "⊥": "perp", "∥": "parallel", "∣": "mid",
}  # fmt: skip
_TEX |= {character: f"$\\{command}$" for character, command in _MATH.items()}

_ESCAPES = str.maketrans(_TEX)


def is_settable_by_pdflatex(text: str) -> bool:
    """Tell whether pdfLaTeX can set a text after `escape_latex`: Latin letters, and what that replaces.

    >>> is_settable_by_pdflatex("μ ∪ σ"), is_settable_by_pdflatex("茶")
    (True, False)
    """
    return all(character in _TEX or character <= LAST_LATIN for character in text)


def escape_latex(text: str) -> str:
    r"""Escape the characters that LaTeX reads as commands; runs of white space become one space.

    Greek letters and common signs of sets and relations become their commands in math mode.

    >>> print(escape_latex("50 % of μ_1 ∪ σ"))
    50 \% of $\mu$\_1 $\cup$ $\sigma$
    """
    return " ".join(text.split()).translate(_ESCAPES)
