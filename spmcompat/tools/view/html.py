"""Tokens as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from spmcompat.tools.evaluate.models import Token
from spmcompat.tools.view.terminal import title_of
from spmcompat.tools.view.visible import visible

# The browser orders bidirectional text over the whole line. If each token were isolated, the tokens
# of an English word or a number in Arabic text would be in the wrong order. Tokens with ids are
# isolated, because an id must stay beside its token.
_STYLE = """
.view { display: grid; gap: .75rem 1.5rem; margin: 0 0 1.5rem;
  grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); }
.view > div { min-width: 0; }
.view h4 { margin: 0; font-size: .875rem; font-weight: 400; overflow-wrap: anywhere; }
.view p { margin: 0; font: .9375rem/1.75 ui-monospace, monospace; overflow-wrap: anywhere; }
.view span { padding: .15em 0; color: #000; background: #afd7ff; }
.view span:nth-of-type(even) { background: #ffd7af; }
.view span:has(sub) { unicode-bidi: plaintext; }
.view sub { padding: 0 .15em; font-size: .7em; line-height: 0; }
.view .byte { background: #d0d0d0; } .view .byte:nth-of-type(even) { background: #9e9e9e; }
.view .unknown { background: #ffafaf; text-decoration: underline; }
.view .unknown:nth-of-type(even) { background: #ff8787; }
"""


def html_of_lines(
    models: Sequence[str], lines: Iterable[Sequence[Sequence[Token]]], *, ids: bool = False
) -> str:
    """Return lines, each with the tokens of all models beside each other, and their style."""
    return f"<style>{_STYLE}</style>\n" + "".join(
        f"<h3>line {number}</h3>\n<div class=view>{_models(models, line, ids=ids)}</div>\n"
        for number, line in enumerate(lines, 1)
    )


def _models(models: Sequence[str], line: Sequence[Sequence[Token]], *, ids: bool) -> str:
    return "".join(
        f"<div><h4>{escape(title_of(name, tokens))}</h4><p dir=auto>"
        f"{''.join(_box(token, ids=ids) for token in tokens)}</p></div>\n"
        for name, tokens in zip(models, line, strict=True)
    )


def _box(token: Token, *, ids: bool) -> str:
    kind = f" class={token.kind}" if token.kind else ""
    shown_id = f"<sub>{token.id}</sub>" if ids else ""
    return f"<span{kind} title={token.id}>{escape(visible(token.text))}{shown_id}</span><wbr>"
