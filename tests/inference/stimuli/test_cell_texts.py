"""Cells as spreadsheets show them: the texts that Excel in English shows for a value and a format."""

from __future__ import annotations

import datetime

import pytest

from inference.stimuli.cell_texts import UnknownFormat, shown

DAY = datetime.datetime(2026, 3, 4)
MOMENT = datetime.datetime(2026, 11, 23, 15, 4, 9)


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [
        (1, "General", "1"), (1.0, "General", "1"), (0.1 + 0.2, "General", "0.3"), (-2.5, "General", "-2.5"),
        (0.00001, "General", "0.00001"), (5, "@", "5"), (1e14, "General", "100000000000000"),
        (7, "00", "07"), (7, "0000", "0007"), (123, "00", "123"), (0, "0", "0"), (0, "#", ""), (0.5, "#.##", ".5"),
        (2.5, "0", "3"), (0.125, "0.00", "0.13"), (1.005, "0.00", "1.01"), (1.5, "0.0#", "1.5"), (2, "0.##", "2."),
        (0.543, "0%", "54%"), (0.5435, "0.0%", "54.4%"), (0.5, "0 %", "50 %"), (1, "0.00%", "100.00%"),
        (1234567, "#,##0", "1,234,567"), (1234.5, "#,##0.00", "1,234.50"), (12, "#,##0", "12"),
        (1500000, "0.0,,", "1.5"), (1500, "0,", "2"),
        (-3, "0", "-3"), (-3, "0;(0)", "(3)"), (0, '0;-0;"none"', "none"),
        (5, '0 "kg"', "5 kg"), (5, "$0.00", "$5.00"), (5, "0.00 [$€-407]", "5.00 €"), (5, '"Q"0', "Q5"),
        (3, "\\n0", "n3"),
        (-5, "0;[Red]-0", "-5"), (5, "_(0_)", "5"),
        (12345, "0.00E+00", "1.23E+04"), (0.00012, "0.0E+0", "1.2E-4"),
        (DAY, "yyyy-mm-dd", "2026-03-04"), (DAY, "d.m.yyyy", "4.3.2026"), (DAY, "dd/mm/yy", "04/03/26"),
        (DAY, "mm-dd-yy", "2026-03-04"), (DAY, "d-mmm-yy", "4-Mar-26"), (DAY, "[$-409]mmmm d, yyyy", "March 4, 2026"),
        (DAY, "dddd", "Wednesday"), (DAY, 'd "de" m', "4 de 3"),
        (MOMENT, "yyyy-mm-dd hh:mm:ss", "2026-11-23 15:04:09"), (MOMENT, "h:mm AM/PM", "3:04 PM"),
        (MOMENT, "mm:ss", "04:09"), (MOMENT, "m/d/yy h:mm", "2026-11-23 15:04:09"),
        (datetime.time(8, 5), "h:mm", "8:05"),
    ],
)  # fmt: skip
def test_a_cell_is_written_as_it_shows(value, form, text):
    assert shown(value, form) == text


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (0.5, "# ?/?"), (5, "[>100]0;0"), (5, "[h]:mm"), (1234567890123456, "General"), (5, "0 x 0"),
        (DAY, "[$-407]d. mmmm"), (DAY, "[h]:mm"), (DAY, "ggge"), (datetime.timedelta(hours=30), "[h]:mm"),
        (datetime.time(8), "yyyy"), (5, "0.0.0"), (5, "zero"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_not_guessed(value, form):
    with pytest.raises(UnknownFormat):
        shown(value, form)
