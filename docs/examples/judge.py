"""A reviewer for Countersign: reads a brief on stdin, writes one ruling per criterion to stdout.

Standard library only. See docs/reviewers.md.
"""

import json
import re
import sys
from pathlib import Path

MARKER = re.compile(r"^(=|-){6,} .* (=|-){6,}$", re.MULTILINE)


def text_of(brief):
    """The text to judge: carried in the payload, or as copies in the current folder."""
    if all(file["inline"] for file in brief["files"]):
        return MARKER.sub("", brief["payload"])
    return "\n\n".join(Path(file["path"]).read_text() for file in brief["files"])


def short_sentences(text):
    """What is wrong, or None."""
    for sentence in re.split(r"[.!?]\s|\n\s*\n", text):
        words = sentence.split()
        if len(words) > 20:
            return f"`{' '.join(words[:5])} …` has {len(words)} words; split it."
    return None


JUDGES = {"Short sentences": short_sentences}


def main():
    brief = json.load(sys.stdin)
    text = text_of(brief)
    results = []
    for criterion in brief["assignment"]["criteria"]:
        judge = JUDGES.get(criterion["name"])
        if judge is None:
            # Not 0: there is no verdict, and the last words on stderr say why.
            sys.exit(f"I cannot judge '{criterion['name']}'")
        problem = judge(text)
        results.append({"criterion": criterion["name"], "passed": problem is None, "feedback": problem})
    failed = sum(not result["passed"] for result in results)
    reply = {
        "passed": failed == 0,
        "feedback": f"{failed} of {len(results)} criteria failed.",
        "criteria_results": results,
    }
    json.dump(reply, sys.stdout)


main()
