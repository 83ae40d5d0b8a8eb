"""The text of ``--help``, with the same layout for every command."""

import textwrap
from collections.abc import Iterable, Iterator

from spmcompat.cli.flags import COMMON, SHORT, Command, Flag, allowed
from spmcompat.options.help import allowed_text, default_text
from spmcompat.options.option import BOOL, CHOICE, FLOAT, INT32, UINT64, Option
from spmcompat.releases import DEFAULT
from spmcompat.runtime.terminal import columns

_WIDEST = 98
_INDENT = 36


def _width() -> int:
    return min(columns(), _WIDEST)


def help_text(command: Command) -> str:
    """Return the help of a command: its purpose, its flags and its exit statuses."""
    usage = f"usage: {command.name} {command.usage}".splitlines()
    lines = [*_paragraphs(command.purpose), "", *_wrap(usage[0], 0, 7), *usage[1:]]
    if command.flags:
        lines += ["", "Flags:", *_entries(command.flags)]
    ignored: list[str] = []
    for title, options in command.options.items():
        flags = [one for one in options if one.flag and one.name not in DEFAULT.retired_options]
        ignored += [one.name for one in options if one.name in DEFAULT.retired_options]
        if flags:
            lines += ["", f"{title}:", *_entries(flags)]
    if ignored:
        names = ", ".join(f"--{name}" for name in sorted(ignored))
        lines += ["", f"Accepted without any effect, as in sentencepiece {DEFAULT.version}:"]
        lines += _wrap(names, 2)
    lines += ["", "Flags of all commands:", *_entries(COMMON)]
    meanings = {
        "0": command.success,
        "1": command.failure,
        "2": command.wrong,
        "130": "interrupted (Ctrl-C)",
        "143": "terminated",
    }
    return "\n".join([*lines, "", "Exit statuses:", *rows(meanings.items(), 8)]) + "\n"


def rows(names: Iterable[tuple[str, str]], indent: int) -> Iterator[str]:
    """Yield the lines of a list that explains names."""
    for name, text in names:
        yield from _row(f"  {name}", text, indent)


def _entries(flags: Iterable[Flag | Option]) -> Iterator[str]:
    """Yield lines that describe each flag: its name, its purpose, its values and its default."""
    for flag in flags:
        if isinstance(flag, Option):
            metavar, models = "", " and ".join(flag.models)
            values, default = allowed_text(flag), default_text(flag).strip()
        else:
            is_number = flag.kind in (INT32, UINT64, FLOAT)
            metavar, models = flag.metavar or ("N" if is_number else ""), ""
            values = allowed(flag) if is_number or flag.kind == CHOICE else ""
            default = _default(flag)
        notes = [
            *(f"also -{short}" for short, name in SHORT.items() if name == flag.name),
            f"values: {values}" if values else "",
            f"{models} only" if models else "",
            f"default: {default}" if default else "",
        ]
        shown = "; ".join(filter(None, notes))
        head = f"  --{flag.name}{f'={metavar}' if metavar else ''}"
        text = f"{flag.help} [{shown}]" if shown else flag.help
        yield from _row(head, text, min(_INDENT, _width() * 2 // 5))


def _default(flag: Flag) -> str:
    if flag.kind == BOOL and flag not in COMMON:
        return str(flag.default).lower()
    if flag.many:
        return ", ".join(map(str, flag.default or ()))  # lines are broken only at spaces
    return "" if flag.default in (None, False) else str(flag.default)


def _row(head: str, text: str, indent: int) -> list[str]:
    """Return the lines of one entry. If the head is long, the text begins on the next line."""
    lines = _wrap(text, indent)
    if len(head) < indent:
        return [head.ljust(indent) + lines[0][indent:], *lines[1:]]
    return [head, *lines]


def _wrap(text: str, indent: int, hanging: int | None = None) -> list[str]:
    """Return the lines of a text. From the second line on, `hanging` replaces the indent."""
    return textwrap.wrap(
        text,
        width=_width(),
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent if hanging is None else hanging),
        break_on_hyphens=False,
    )


def _paragraphs(text: str) -> Iterator[str]:
    """Yield the lines of paragraphs. Indented paragraphs are not wrapped."""
    for number, paragraph in enumerate(text.split("\n\n")):
        if number:
            yield ""
        yield from [paragraph] if paragraph.startswith(" ") else _wrap(paragraph, 0)
