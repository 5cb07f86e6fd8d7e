"""Names of columns, and parts of labels, that break careless code."""

ODD_NAMES = (
    "a,b",
    'say "hi"',
    "<x & y>",
    "[bold]red[/]",
    "smile 😀 日本 \U0001fae0",
    "two\nlines",
    "$x_1$ \\frac{",
    "n" * 200,
    ":warning:",
    "\x1b[31mescape",
    "%s {0}",
    "back\\",
    "क्षत्रिय ไทย",
)
