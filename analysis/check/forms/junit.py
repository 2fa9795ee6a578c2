"""Write a check as JUnit XML, which build servers read: a test case for each rule.

A broken rule is a failure. One that cannot be told is a failure where the rule says so, else a test that was skipped.

References
----------
Jenkins xUnit plugin, junit-10.xsd: the schema that the output keeps to.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from analysis.check.checking import Check, DecidedRule
from analysis.check.forms.lines import describe_outcome, describe_rule_and_worst_outcome
from analysis.check.outcomes import CANNOT_TELL
from ground.errors import format_quantity

SUITE = "waver check"
NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML 1.0 does not have
MOST_LINES = 200  # outcomes of a rule in the text of a failure


def format_check_as_junit(check: Check) -> str:
    """Write a check as JUnit XML.

    Parameters
    ----------
    check
        The check.

    Returns
    -------
    The text.
    """
    failed = sum(result.is_failed for result in check.results)
    skipped = sum(result.decision == CANNOT_TELL and not result.is_failed for result in check.results)
    counts = {
        "name": SUITE, "tests": str(len(check.results)), "failures": str(failed), "errors": "0",
        "skipped": str(skipped),
    }  # fmt: skip
    root = ET.Element("testsuites")
    suite = ET.SubElement(root, "testsuite", counts)
    properties = ET.SubElement(suite, "properties")
    for name, value in (("run", check.run), ("rules", str(check.rules.path)), ("against", check.against)):
        if value:
            ET.SubElement(properties, "property", name=name, value=value)
    for result in check.results:
        _add_test_case_of_rule(suite, result)
    if check.notes:
        ET.SubElement(suite, "system-out").text = "\n".join(check.notes)
    ET.indent(root)
    text = NO_XML.sub("\N{REPLACEMENT CHARACTER}", ET.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_test_case_of_rule(suite: ET.Element, result: DecidedRule) -> None:
    """Add the test case of a rule."""
    case = ET.SubElement(suite, "testcase", name=result.rule.name, classname=SUITE)
    lines = [f"{decided.decision}: {describe_outcome(decided)}" for decided in result.outcomes[:MOST_LINES]]
    if len(result.outcomes) > MOST_LINES:
        lines.append(f"{format_quantity(len(result.outcomes) - MOST_LINES, 'other is', 'others are')} not shown")
    text, message = "\n".join(lines), describe_rule_and_worst_outcome(result)
    if result.is_failed:
        ET.SubElement(case, "failure", type=result.decision, message=message).text = text
    elif result.decision == CANNOT_TELL:
        ET.SubElement(case, "skipped", message=f"{result.decision}: {message}")
    if not result.is_failed and text:
        ET.SubElement(case, "system-out").text = text
