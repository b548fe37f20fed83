"""Names and texts of strangers, which must be shown as text wherever they are shown."""

import re

HOSTILE = {
    "markup": "<script>alert(1)</script>",
    "attribute": "\" onmouseover='alert(1)' x=\"",
    "comment": "--><!-- ]]></style></svg>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "colours": "\x1b[31mred\x1b[0m\x9b31m",
    "link": "\x1b]8;;http://example.com\x07here\x1b]8;;\x1b\\",
    "overwritten": "failed\rsolved",
    "backspaces": "failed\x08\x08\x08\x08\x08\x08solved",
    "direction": "\u202egpj.exe\u2066\u200f",
    "formula": "=cmd|' /C calc'!A0",
    "mathtext": "$\\frac{1}{$",
    "broken": "\udcff\x00",
}

# Characters that do something, on a terminal or to the order of a text.
ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
