"""Small drawings in SVG. Colours are names of classes, which the style sheet defines."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

SIZE = 13
"""Height of the letters."""


def element(name: str, *children: str, **attributes: object) -> str:
    """Return an element; ``class_`` stands for class, and other ``_`` for ``-``."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_text(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(children)
    return f"<{name}{given}>{inner}</{name}>" if inner else f"<{name}{given}/>"


def _text(value: object) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def text(x: float, y: float, words: str, anchor: str = "middle", class_: str | None = None) -> str:
    """Return a line of text."""
    return element("text", escape(words), x=float(x), y=float(y), text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str = "line") -> str:
    """Return a straight line."""
    return element("line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str = "box") -> str:
    """Return a rectangle with round corners."""
    return element(
        "rect",
        x=float(x),
        y=float(y),
        width=float(width),
        height=float(height),
        rx=4,
        class_=class_,
    )


def drawing(title: str, width: float, height: float, parts: Iterable[str]) -> str:
    """Return the whole drawing; the title is for readers who do not see it."""
    return element(
        "svg",
        element("title", escape(title)),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        style=f"min-width: {min(width, 0.8 * width):g}px; max-width: {width:g}px",
        xmlns="http://www.w3.org/2000/svg",
    )


class Series(NamedTuple):
    """Values of one kind: a name, a class for the colour, and the values."""

    name: str
    class_: str
    values: Sequence[float]


def legend(series: Sequence[Series], x: float, y: float) -> list[str]:
    """Return the names of the series beside their colours."""
    parts = []
    for one in series:
        parts += [box(x, y - 10, 12, 12, one.class_), text(x + 18, y, one.name, "start")]
        x += 44 + 7 * len(one.name)
    return parts


def bars(title: str, labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """Return horizontal bars, grouped by label, with their values."""
    left, width, thick = 215.0, 720.0, 15
    group = thick * len(series) + 12
    most = max(max(one.values) for one in series)
    scale = (width - left - 75) / most
    parts = legend(series, left, 16)
    y = 34.0
    for index, label in enumerate(labels):
        parts.append(text(left - 10, y + group / 2 - 2, label, "end"))
        for place, one in enumerate(series):
            value, top = one.values[index], y + place * thick
            length = max(value * scale, 1)
            parts.append(box(left, top, length, thick - 3, one.class_))
            parts.append(text(left + length + 6, top + 10.5, number(value), "start", "small"))
        y += group
    parts.append(text(left, y + 8, unit, "start", "small"))
    return drawing(title, width, y + 16, parts)


def number(value: float) -> str:
    """Return a number with three digits or all before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def curves(
    title: str,
    xs: Sequence[float],
    series: Sequence[Series],
    x_title: str,
    y_title: str,
    from_zero: bool = True,
) -> str:
    """Return lines over a common axis, with a mark at each value."""
    width, height, left, bottom, top = 640.0, 330.0, 64.0, 280.0, 56.0
    least = 0.0 if from_zero else min(min(one.values) for one in series)
    ticks = _ticks(least, max(max(one.values) for one in series))
    low, high = ticks[0], ticks[-1]
    first, last = (0.0 if from_zero else min(xs)), max(xs)

    def at(x: float, y: float) -> tuple[float, float]:
        across = left + (x - first) / (last - first) * (width - left - 30)
        return across, bottom - (y - low) / (high - low) * (bottom - top)

    parts = legend(series, left, 16)
    parts.append(text(left, 40, y_title, "start", "small"))
    for tick in ticks:
        _, y = at(first, tick)
        parts += [line(left, y, width - 30, y, "grid"), text(left - 8, y + 4, number(tick), "end")]
    for x in xs:
        across, _ = at(x, low)
        parts += [line(across, bottom, across, bottom + 5), text(across, bottom + 20, number(x))]
    parts.append(text((left + width - 30) / 2, height - 8, x_title, "middle", "small"))
    for one in series:
        points = [at(x, y) for x, y in zip(xs, one.values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(element("polyline", points=path, class_=f"curve {one.class_}"))
        parts += [element("circle", cx=x, cy=y, r=4, class_=one.class_) for x, y in points]
    return drawing(title, width, height, parts)


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers whose range holds the values."""
    rough = (high - low) / 4
    size = 10.0 ** len(str(int(rough))) / 10 if rough >= 1 else 0.1
    while rough < size:
        size /= 10
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough)
    start = int(low / step) * step
    ticks = [start]
    while ticks[-1] < high:
        ticks.append(ticks[-1] + step)
    return ticks
