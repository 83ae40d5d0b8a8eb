"""Small drawings in SVG. Colours are names of classes, which the style sheet defines."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

NARROW = 480.0
"""The width of a drawing that a small screen shows as a whole."""


def element(name: str, *children: str, **attributes: object) -> str:
    """Return an element; ``class_`` becomes ``class``, and any other ``_`` becomes ``-``."""
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
    """Return a rectangle with rounded corners."""
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
    """Return the whole drawing; the title is for readers who do not see it.

    It shrinks to the width of a small screen. A wide one keeps its letters readable and scrolls.
    """
    least = 0.8 * width if width > NARROW else 0
    return element(
        "svg",
        element("title", escape(title)),
        *parts,
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        style=f"min-width: {least:g}px; max-width: {1.2 * width:g}px",
        xmlns="http://www.w3.org/2000/svg",
    )


class Series(NamedTuple):
    """Values of one kind: a name, a class for the colour, and the values."""

    name: str
    class_: str
    values: Sequence[float]


def legend(series: Sequence[Series], x: float, y: float) -> list[str]:
    """Return the names of the series one below the other, each beside its colour."""
    parts = []
    for index, one in enumerate(series):
        top = y + 18 * index
        parts += [box(x, top - 10, 12, 12, one.class_), text(x + 18, top, one.name, "start")]
    return parts


def bars(title: str, labels: Sequence[str], series: Sequence[Series], unit: str) -> str:
    """Return horizontal bars with their values, below the labels of their groups."""
    width, thick = 440.0, 14.0
    scale = (width - 62) / max(max(one.values) for one in series)
    y = 16.0
    parts = [text(2, y, unit, "start", "small"), *legend(series, 2, y + 20)]
    y += 20 + 18 * len(series)
    for index, label in enumerate(labels):
        parts.append(text(2, y + 12, label, "start"))
        y += 18
        for one in series:
            length = max(one.values[index] * scale, 1)
            shown = number(one.values[index])
            parts.append(box(2, y, length, thick - 2, one.class_))
            parts.append(text(length + 8, y + 10.5, shown, "start", "small"))
            y += thick
        y += 8
    return drawing(title, width, y, parts)


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
    x_labels: Sequence[str] = (),
) -> str:
    """Return lines over a common axis, with a mark at each value.

    Each mark on the horizontal axis is labelled with its value, or with its entry of `x_labels`.
    """
    width, left, right = 460.0, 52.0, 434.0
    top = 34 + 18.0 * len(series)
    bottom, height = top + 220, top + 266
    least = 0.0 if from_zero else min(min(one.values) for one in series)
    ticks = _ticks(least, max(max(one.values) for one in series))
    low, high = ticks[0], ticks[-1]
    first, last = (0.0 if from_zero else min(xs)), max(xs)

    def at(x: float, y: float) -> tuple[float, float]:
        across = left + (x - first) / (last - first) * (right - left)
        return across, bottom - (y - low) / (high - low) * (bottom - top)

    parts = [text(2, 14, y_title, "start", "small"), *legend(series, 2, 34)]
    for tick in ticks:
        _, y = at(first, tick)
        parts += [line(left, y, right, y, "grid"), text(left - 8, y + 4, number(tick), "end")]
    for x, label in zip(xs, x_labels or map(number, xs), strict=True):
        across, _ = at(x, low)
        parts += [line(across, bottom, across, bottom + 5), text(across, bottom + 20, label)]
    parts.append(text((left + right) / 2, height - 8, x_title, "middle", "small"))
    for one in series:
        points = [at(x, y) for x, y in zip(xs, one.values, strict=True)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(element("polyline", points=path, class_=f"curve {one.class_}"))
        parts += [element("circle", cx=x, cy=y, r=4, class_=one.class_) for x, y in points]
    return drawing(title, width, height, parts)


def _ticks(low: float, high: float) -> list[float]:
    """Return about five round numbers whose range includes the values."""
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
