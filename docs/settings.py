"""Makes docs/settings-table.md out of `ernn train --help`.

    cargo build --release && python3 docs/settings.py target/release/ernn

A heading of the help becomes a section, a flag becomes a row with its default and its meaning.
"""

import re
import subprocess
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent / "settings-table.md"
HEAD = """# Table of settings

Every flag of `ernn train`. [Settings](settings.md) explains what they are for. This page is made by
`python3 docs/settings.py PATH_OF_ERNN` out of `ernn train --help`; do not edit it.

"depends on the data" or "on the cell": `ernn train DATA --show` prints the value and the reason.
"""


def entries(text):
    """Sections as (heading, [(flag, words)])."""
    sections = []
    for line in text.splitlines():
        heading = re.match(r"^([A-Z][A-Za-z ]*):$", line)
        flag = re.match(r"^ {2,6}(?:(-\w), )?(--[a-z-]+(?: \[?<[^>]*>\]?)?)(?: {2,}(.*))?$", line)
        if heading:
            sections.append((heading.group(1), []))
        elif flag and sections:
            short = f"{flag.group(1)}, " if flag.group(1) else ""
            sections[-1][1].append([short + flag.group(2), [flag.group(3) or ""]])
        elif line.startswith(" ") and sections and sections[-1][1]:
            sections[-1][1][-1][1].append(line.strip())
    return [(heading, flags) for heading, flags in sections if heading != "Arguments" and flags]


def row(flag, words):
    text = re.sub(r"\s+", " ", " ".join(words)).strip()
    default = re.search(r" ?\[default: ([^\]]*)\]", text)
    text = re.sub(r" ?\[default: [^\]]*\]", "", text)
    text = re.sub(r" ?\[possible values: ([^\]]*)\]", r" (\1)", text)
    found = default.group(1) if default else ""
    escape = lambda words: words.replace("|", "\\|")
    return f"| `{escape(flag)}` | {escape(found)} | {escape(text)} |"


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    text = subprocess.run([sys.argv[1], "train", "--help"], check=True, capture_output=True, text=True).stdout
    page = HEAD
    for heading, flags in entries(text):
        page += f"\n## {heading}\n\n| flag | default | meaning |\n|---|---|---|\n"
        page += "".join(row(flag, words) + "\n" for flag, words in flags)
    OUT.write_text(page)


main()
