r"""Write a cell of a workbook as text, the way a spreadsheet shows it: 0.5 in the format `0 %` is "50 %".

Known are `General`, `@`, digits with leading zeros, decimals, thousands, per cent and powers of ten (`00`, `#,##0.00`,
`0.0%`, `0.00E+00`) with texts around them, and dates of years, months, days, hours, minutes and seconds. A point is the
decimal sign and names of months and days are English, whatever the computer's language. Dates in the format of the
computer's language (which a file does not tell) are 2026-11-23. Every other format is refused.
"""

from __future__ import annotations

import datetime
import re
from decimal import ROUND_HALF_UP, Decimal

_DIGITS = 15  # that a spreadsheet keeps
_DATE = datetime.datetime | datetime.date | datetime.time
# What stands in a section of a format: a quoted or escaped text, a colour or locale, a filler, and all else.
_PART = re.compile(r'"(?P<quoted>[^"]*)"|\\(?P<escaped>.)|\[(?P<bracket>[^\]]*)\]|_.|\*.|(?P<other>.)', re.DOTALL)
_COLOURS = {"black", "blue", "cyan", "green", "magenta", "red", "white", "yellow"}
_NUMBER = re.compile(
    r"(?P<whole>[0#?,]*)(?:\.(?P<decimals>[0#?]*))?(?P<thousands>,*)(?:[eE](?P<sign>[+-])(?P<power>0+))?"
)
_LOCAL = {"mm-dd-yy", "m/d/yy h:mm", "m/d/yyyy", "m/d/yyyy h:mm"}  # formats 14 and 22, shown as each computer likes
_LOCALE = re.compile(r"\$-(?:0*[48]09|[0-9a-f]*0409|en(?:-[a-z]+)?)", re.IGNORECASE)
_TIME = re.compile(r"AM/PM|A/P|y+|m+|d+|h+|s+|.", re.IGNORECASE | re.DOTALL)
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class UnknownFormat(ValueError):
    """A number format that is not known here."""


def shown(value: float | _DATE, form: str) -> str:
    """Write a number or a date in a format.

    >>> shown(0.1 + 0.2, "General"), shown(7.0, "000"), shown(0.125, "0.0%"), shown(-1234.5, "#,##0.00")
    ('0.3', '007', '12.5%', '-1,234.50')
    >>> shown(datetime.datetime(2026, 3, 4, 9, 5), 'd. mmmm yyyy "at" h:mm')
    '4. March 2026 at 9:05'

    Raises
    ------
    UnknownFormat
        The format has something that this module does not know, or the number more digits than a spreadsheet keeps.
    """
    if isinstance(value, datetime.timedelta):
        raise UnknownFormat(form)
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return _date(value, form)
    sections = _sections(form)
    if form.casefold() == "general" or form == "@":
        return _general(value)
    if len(sections) > 4 or (len(sections) > 1 and any("<" in each or ">" in each for each in sections)):
        raise UnknownFormat(form)
    place = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    text = _number(abs(value), sections[place], form)
    return f"-{text}" if value < 0 and place == 0 and re.search("[1-9]", text) else text


def _sections(form: str) -> list[str]:
    """Split a format at its semicolons, but for those in texts."""
    return re.findall(r'(?:"[^"]*"|\\.|[^;"\\])+', form) if ";" in form else [form]


def _general(value: float) -> str:
    if isinstance(value, int) or float(value).is_integer():
        if abs(value) >= 10**_DIGITS:
            raise UnknownFormat(f"General: {value:.0f} has more digits than a spreadsheet keeps")
        return str(int(value))
    text = f"{value:.{_DIGITS}g}"
    return format(Decimal(text), "f") if "e" in text and abs(value) >= 1e-9 else text.replace("e", "E")


def _number(value: float, section: str, form: str) -> str:
    """Write a number that is not negative."""
    parts = _parts(section, form)
    core = "".join(text for text, literal in parts if not literal and text in "0#?.,Ee+-")
    if not re.search("[0#?]", core):
        if any(not literal and text.casefold() not in "% " for text, literal in parts):
            if section.strip().casefold() == "general":
                return _general(value)
            raise UnknownFormat(form)
        return "".join(text for text, _ in parts)
    pattern = _NUMBER.fullmatch(_core(parts, form))
    if pattern is None:
        raise UnknownFormat(form)
    percent = sum(text == "%" for text, literal in parts if not literal)
    exact = Decimal(f"{value:.{_DIGITS}g}").scaleb(2 * percent - 3 * len(pattern["thousands"]))
    whole = pattern["whole"]
    if whole.endswith(",") and pattern["decimals"] is None:  # "0,": thousands
        exact, whole = exact.scaleb(-3 * (len(whole) - len(whole.rstrip(",")))), whole.rstrip(",")
    power = ""
    if pattern["power"]:
        exponent = exact.adjusted() if exact else 0
        exact = exact.scaleb(-exponent)
        sign = "-" if exponent < 0 else "+" if pattern["sign"] == "+" else ""
        power = f"E{sign}{abs(exponent):0{len(pattern['power'])}d}"
    number = _placed(exact, whole, pattern["decimals"]) + power
    before, after = _around(parts)
    return before + number + after


def _placed(value: Decimal, whole: str, decimals: str | None) -> str:
    """Write a number with the digits that zeros ask for, and those that # allows."""
    places = len(decimals or "")
    rounded = value.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    digits, _, rest = f"{rounded:f}".partition(".")
    least = len((decimals or "").rstrip("#?"))
    rest = rest[:least] + rest[least:].rstrip("0")
    digits = digits.lstrip("0").rjust(whole.count("0"), "0")
    if "," in whole:
        digits = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", digits)
    return digits + (f".{rest}" if decimals is not None else "")


def _parts(section: str, form: str) -> list[tuple[str, bool]]:
    """Split a section into single characters and texts, with whether they are literal."""
    found: list[tuple[str, bool]] = []
    for part in _PART.finditer(section):
        if part["bracket"] is not None:
            bracket = part["bracket"]
            if bracket.startswith("$") and "-" in bracket:  # a currency and the locale: [$€-407]
                found.append((bracket[1:].rpartition("-")[0], True))
            elif bracket.casefold() not in _COLOURS and not bracket.casefold().startswith("color"):
                raise UnknownFormat(form)
        elif part["quoted"] is not None or part["escaped"] is not None:
            found.append((part["quoted"] if part["escaped"] is None else part["escaped"], True))
        elif part["other"] is not None:
            character = part["other"]
            literal = character not in "0#?.,%Ee" and not (character in "+-" and found and found[-1][0] in "Ee")
            if literal and character.isalpha() and character not in "€":
                raise UnknownFormat(form)
            found.append((character, literal))
    return found


def _core(parts: list[tuple[str, bool]], form: str) -> str:
    """Return the placeholders of a section, which stand together."""
    places = [place for place, (text, literal) in enumerate(parts) if not literal and text != "%"]
    if any(parts[place][1] or parts[place][0] == "%" for place in range(places[0], places[-1] + 1)):
        raise UnknownFormat(form)
    return "".join(parts[place][0] for place in places)


def _around(parts: list[tuple[str, bool]]) -> tuple[str, str]:
    places = [place for place, (text, literal) in enumerate(parts) if not literal and text != "%"]
    return tuple("".join(text for text, _ in side) for side in (parts[: places[0]], parts[places[-1] + 1 :]))  # type: ignore[return-value]


def _date(value: _DATE, form: str) -> str:
    if form in _LOCAL or form.startswith(("[$-F800]", "[$-F400]")):
        midnight = isinstance(value, datetime.datetime) and value.time() == datetime.time()
        return str(value.date() if midnight else value) if isinstance(value, datetime.datetime) else str(value)
    section = _sections(form)[0]
    english, tokens = True, []
    for part in re.finditer(r'"([^"]*)"|\\(.)|\[([^\]]*)\]|_.|\*.|([^"\\\[_*]+)', section, re.DOTALL):
        if part[3] is not None:
            if not part[3].startswith("$-") and part[3].casefold() not in _COLOURS:
                raise UnknownFormat(form)
            english = english and (not part[3].startswith("$-") or _LOCALE.fullmatch(part[3]) is not None)
        elif part[4] is not None:
            tokens += [(token, False) for token in _TIME.findall(part[4])]
        else:
            tokens.append((part[1] if part[2] is None else part[2], True))
    return "".join(
        token if literal else _of_date(value, number, tokens, form, english)
        for number, (token, literal) in enumerate(tokens)
    )


def _of_date(value: _DATE, number: int, tokens: list[tuple[str, bool]], form: str, english: bool) -> str:
    """Write one token of the format of a date; `m` after hours or before seconds are minutes."""
    token = tokens[number][0]
    kind, size = token[0].casefold(), len(token)
    if token.casefold() in ("am/pm", "a/p"):
        word = "AM" if _of(value, "hour", form) < 12 else "PM"
        return word if size > 3 else word[0]
    if kind not in "ymdhs":
        if token.isalnum():
            raise UnknownFormat(form)
        return token
    others = [each.casefold() for each, literal in tokens if not literal and each[0].casefold() in "ymdhs"]
    own = sum(not literal and each[0].casefold() in "ymdhs" for each, literal in tokens[:number])
    before, after = others[own - 1 : own] if own else [], others[own + 1 : own + 2]
    if kind == "m" and size <= 2 and ((before[:1] and before[0][0] == "h") or (after[:1] and after[0][0] == "s")):
        return f"{_of(value, 'minute', form):0{size}d}"
    if kind == "y":
        year = _of(value, "year", form)
        return f"{year % 100:02d}" if size <= 2 else f"{year:04d}"
    if kind in "md" and size > 2:
        if not english or size > 4:
            raise UnknownFormat(form)
        name = _MONTHS[_of(value, "month", form) - 1]
        if kind == "d":
            name = _DAYS[datetime.date(*(_of(value, part, form) for part in ("year", "month", "day"))).weekday()]
        return name if size == 4 else name[:3]
    if kind == "h" and any(each.casefold() in ("am/pm", "a/p") for each, literal in tokens if not literal):
        return f"{(_of(value, 'hour', form) - 1) % 12 + 1:0{min(size, 2)}d}"
    part = {"m": "month", "d": "day", "h": "hour", "s": "second"}[kind]
    return f"{_of(value, part, form):0{min(size, 2)}d}"


def _of(value: _DATE, part: str, form: str) -> int:
    """Return the year, hour ... of a date or time; one that it does not have is an unknown format."""
    found = getattr(value, part, None)
    if found is None:
        if isinstance(value, datetime.date) and part in ("hour", "minute", "second"):
            return 0
        raise UnknownFormat(form)
    return int(found)
