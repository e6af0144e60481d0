"""Names that mean something to some program that reads them, and must stay text to all."""

from __future__ import annotations

PATTERNS = (
    "<script>window.hacked={i}</script>",
    "</script><script>window.hacked={i}</script>",
    '"><img src=x onerror=window.hacked={i}>',
    "'><svg onload=window.hacked={i}>",
    "</noscript></style><iframe src=javascript:parent.hacked={i}>",
    "<!-- {i} --><b>bold</b>",
    "javascript:window.hacked={i}",
    "${{window.hacked={i}}}{{{{7*{i}}}}}",
    "]]>{i}<![CDATA[",
    "&lt;{i}&amp;&#60;script&#62;",
    "x'); DROP TABLE canary; --{i}",
    '"; DELETE FROM canary; /*{i}*/',
    "a''b\"\"c`d`[e]{i}",
    "%s %d %n {i} \\x00 \\' \\\" \\\\",
    "*/ int main() {{ return {i}; }} /*",
    "??/ {i} \\\n#error {i}",
    "=1+{i}",
    "+cmd|' /C calc'!A{i}",
    "-2+{i}+cmd",
    "@SUM(A1:A{i})",
    "semi;colon,comma\ttab {i}",
    "line\nbreak\r\n{i}",
    "emoji 🦠👩‍⚕️ {i}",
    "إحالة إلى أخصائي {i}",
    "מחלה קשה {i}",
    "\u202eoverride {i}\u202c",
    "line\u2028separator\u2029 {i}",
    "__proto__ {i}",
    "@@data@@ {i}",
    " leading and trailing {i} ",
)

#: 300 of them, all different.
NAMES = tuple(pattern.format(i=i) for i in range(10) for pattern in PATTERNS)
assert len(set(NAMES)) == 300
