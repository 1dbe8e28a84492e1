"""Figures of the results pages as small SVG files: rows of dots with means and intervals, and curves.

A figure has its own background and follows the reader's light or dark mode, so it can be read on any page. Colours are Okabe and Ito's,
those of the report (agents/bandits/report.js); every row and curve is also named in words. Coordinates are rounded to 0.1 pixel, and the same
records give the same bytes.
"""
import dataclasses
import math
import pathlib
import xml.etree.ElementTree as xml

WIDTH = 880
ROW = 22  # height of a row of dots
CHARACTER = 6.7  # width of a character at 12 pixels, for the room that labels need
# By name: the colour on a light and on a dark background.
COLOURS = {
    "uniform": ("#8a867e", "#9b968d"), "epsilon-greedy": ("#d98200", "#f0a336"), "lints": ("#00875f", "#2fc498"),
    "linucb": ("#7a6a00", "#d8c84a"), "ensemble": ("#b0568c", "#dd8dbb"), "svgd": ("#0b62a4", "#6cb4ee"),
    "s2vgd": ("#cf4a00", "#ff8a4c"), "vmg": ("#5b4db0", "#a79cf0"), "independent": ("#b0568c", "#dd8dbb"),
    "rmsprop": ("#0b62a4", "#6cb4ee"), "psgld": ("#cf4a00", "#ff8a4c"), "variational": ("#00875f", "#2fc498"),
    "svgd-star": ("#3f7f93", "#7cc4d8"), "sgld": ("#8a867e", "#9b968d"), "sgld-em": ("#0b62a4", "#6cb4ee"),
    "sgld-sa": ("#cf4a00", "#ff8a4c"), "a2c": ("#0b62a4", "#6cb4ee"), "ppo": ("#cf4a00", "#ff8a4c"),
}
INK, SOFT, LINE, BACKGROUND = ("#1d1c1a", "#e9e6e0"), ("#65615a", "#a39e95"), ("#e0dbd2", "#3a3f46"), ("#ffffff", "#15181c")


@dataclasses.dataclass
class Mark:
    """What a panel shows in one row: a dot for every seed, a bar at the mean, a line over its 95 % interval, a diamond where a
    published value lies."""
    seeds: list[float]
    mean: float
    half: float | None = None  # half the width of the interval
    published: float | None = None
    text: str = ""  # written at the right end of the row


@dataclasses.dataclass
class Row:
    label: str
    colour: str  # a name in COLOURS


@dataclasses.dataclass
class Panel:
    """One axis over all rows."""
    title: str
    axis: str  # what the axis measures, with its unit
    marks: dict[str, Mark]  # by the label of the row, or by "group/label" where rows stand in groups
    logarithmic: bool = False
    reference: tuple[float, str] | None = None  # a dashed line across the rows, and its name
    bounds: tuple[float, ...] = ()  # values that the axis has to reach


@dataclasses.dataclass
class Curve:
    label: str
    colour: str
    dashed: bool
    points: list[tuple[float, float, float, float]]  # x, mean, and the ends of its interval


def svg(title, height):
    """An empty figure; `xml` escapes what is put into it."""
    root = xml.Element("svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {WIDTH} {height}", role="img")
    add(root, "title", title)
    add(root, "style", style())
    add(root, "rect", width=WIDTH, height=height, rx=6, **{"class": "background"})
    return root


def style():
    def rules(mode):
        yield f".background{{fill:{BACKGROUND[mode]}}}text{{fill:{INK[mode]}}}.soft{{fill:{SOFT[mode]}}}"
        yield f".grid{{stroke:{LINE[mode]}}}.reference,.published{{stroke:{INK[mode]}}}"
        for name, colour in COLOURS.items():
            yield f".{name}{{fill:{colour[mode]};stroke:{colour[mode]}}}"

    fixed = ("text{font:12px system-ui,sans-serif}.title{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}"
             ".seeds{fill-opacity:.5;stroke:none}.interval{stroke-width:2}.mean{stroke-width:3}"
             ".published{fill:none;stroke-width:1.5}.reference{stroke-dasharray:4 3}"
             ".curve{fill:none;stroke-width:2}.dashed{stroke-dasharray:6 4}.band{fill-opacity:.14;stroke:none}")
    return "".join(rules(0)) + "@media (prefers-color-scheme:dark){" + "".join(rules(1)) + "}" + fixed


def add(parent, tag, text=None, **attributes):
    node = xml.SubElement(parent, tag, {key: number(value) for key, value in attributes.items()})
    node.text = text
    return node


def number(value):
    return value if isinstance(value, str) else f"{value:.1f}".removesuffix(".0")


def label_of(value):
    """A tick's label."""
    return f"{value:,.10g}".replace("-", "−")


class Axis:
    """Maps values to pixels and knows its ticks."""

    def __init__(self, values, begin, end, logarithmic=False):
        self.begin, self.end, self.map = begin, end, math.log10 if logarithmic else float
        low, high = (self.map(bound) for bound in (min(values), max(values)))
        margin = .05 * (high - low or 1)
        self.low, self.high = low - margin, high + margin
        self.ticks = [tick for tick in (self.powers() if logarithmic else self.steps()) if self.low <= self.map(tick) <= self.high]

    def powers(self):
        exponents = range(math.floor(self.low), math.ceil(self.high) + 1)
        digits = (1, 2, 5) if self.high - self.low < 2 else (1, 3) if self.high - self.low < 3 else (1,)
        return [digit * 10.0**exponent for exponent in exponents for digit in digits]

    def steps(self):
        rough = (self.high - self.low) / max(4, abs(self.end - self.begin) / 70)
        power = 10.0**math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * .999)
        return [index * step for index in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]

    def __call__(self, value):
        return self.begin + (self.map(value) - self.low) / (self.high - self.low) * (self.end - self.begin)


def draw_mark(root, mark, colour, axis, y):
    dots = add(root, "g", **{"class": f"{colour} seeds"})
    for index, value in enumerate(mark.seeds):
        add(dots, "circle", cx=axis(value), cy=y + 2.2 * (index % 5 - 2), r=2.6)
    if mark.half:
        add(root, "line", x1=axis(mark.mean - mark.half), x2=axis(mark.mean + mark.half), y1=y, y2=y, **{"class": f"{colour} interval"})
    add(root, "line", x1=axis(mark.mean), x2=axis(mark.mean), y1=y - 7, y2=y + 7, **{"class": f"{colour} mean"})
    if mark.published is not None:
        x = axis(mark.published)
        add(root, "path", d=f"M{number(x)},{number(y - 5.5)}l5.5,5.5l-5.5,5.5l-5.5,-5.5z", **{"class": "published"})


def extent(mark, logarithmic):
    values = [*mark.seeds, mark.mean] + ([mark.published] if mark.published is not None else [])
    low = mark.mean - (mark.half or 0)
    return values + [mark.mean + (mark.half or 0)] + ([low] if low > 0 or not logarithmic else [])


def dots(path, title, groups, tiers):
    """Rows of dots: `groups` is {heading: [Row, …]} (the heading may be empty), `tiers` a list of lists of panels that stand side by
    side; every tier shows all rows."""
    rows = [(heading, row) for heading, members in groups.items() for row in [None, *members] if row or heading]
    names = [("  " if any(groups) else "") + row.label if row else heading for heading, row in rows]
    left = 14 + CHARACTER * max(len(name) for name in names) + 10
    above, below = 46, 46
    tier_height = above + ROW * len(rows) + below
    root = svg(title, tier_height * len(tiers) + 6)
    for tier, panels in enumerate(tiers):
        top = tier * tier_height + above
        for index, ((_, row), name) in enumerate(zip(rows, names, strict=True)):
            add(root, "text", name.strip(), x=26 if row and any(groups) else 14, y=top + ROW * index + 15,
                **{"class": "" if row else "title"})
        width = (WIDTH - left) / len(panels)
        for index, panel in enumerate(panels):
            draw_panel(root, panel, rows, left + index * width + 10, left + (index + 1) * width - 14, top)
    save(root, path)


def draw_panel(root, panel, rows, begin, end, top):
    bottom = top + ROW * len(rows)
    gutter = max((CHARACTER * len(mark.text) + 8 for mark in panel.marks.values() if mark.text), default=0)
    values = [value for mark in panel.marks.values() for value in extent(mark, panel.logarithmic)]
    values += [*panel.bounds] + ([panel.reference[0]] if panel.reference else [])
    axis = Axis(values, begin, end - gutter, panel.logarithmic)
    add(root, "text", panel.title, x=begin, y=top - 24, **{"class": "title"})
    for tick in axis.ticks:
        add(root, "line", x1=axis(tick), x2=axis(tick), y1=top, y2=bottom, **{"class": "grid"})
        add(root, "text", label_of(tick), x=axis(tick), y=bottom + 15, **{"class": "soft middle"})
    scale = ", log scale" if panel.logarithmic else ""
    add(root, "text", panel.axis + scale, x=(begin + end - gutter) / 2, y=bottom + 33, **{"class": "soft middle"})
    if panel.reference:
        x = axis(panel.reference[0])
        add(root, "line", x1=x, x2=x, y1=top, y2=bottom, **{"class": "reference"})
        room = CHARACTER * len(panel.reference[1]) / 2
        add(root, "text", panel.reference[1], x=min(max(x, begin + room), end - gutter - room), y=top - 4, **{"class": "soft middle"})
    if gutter:
        add(root, "text", "mean", x=end, y=top - 4, **{"class": "soft end"})
    for index, (heading, row) in enumerate(rows):
        mark = row and panel.marks.get(f"{heading}/{row.label}" if heading else row.label)
        if mark:
            y = top + ROW * (index + .5)
            draw_mark(root, mark, row.colour, axis, y)
            if mark.text:
                add(root, "text", mark.text, x=end, y=y + 4, **{"class": "soft end"})


def draw_axes(root, title, across, down):
    """The title of a panel, and beside and below it an axis each, (what it measures, Axis)."""
    (x_axis, x_of), (y_axis, y_of) = across, down
    begin, end, bottom, top = x_of.begin, x_of.end, y_of.begin, y_of.end
    add(root, "text", title, x=begin, y=top - 10, **{"class": "title"})
    for tick in y_of.ticks:
        add(root, "line", x1=begin, x2=end, y1=y_of(tick), y2=y_of(tick), **{"class": "grid"})
        add(root, "text", label_of(tick), x=begin - 6, y=y_of(tick) + 4, **{"class": "soft end"})
    for tick in x_of.ticks:
        add(root, "text", label_of(tick), x=x_of(tick), y=bottom + 17, **{"class": "soft middle"})
    add(root, "text", x_axis, x=(begin + end) / 2, y=bottom + 36, **{"class": "soft middle"})
    turned = f"translate({number(begin - 48)},{(top + bottom) // 2}) rotate(-90)"
    add(root, "text", y_axis, transform=turned, **{"class": "soft middle"})


def curves(path, title, panels, x_axis, y_axis, logarithmic=False):
    """Curves with bands; `panels` is {title: [Curve, …]}; `logarithmic` says how they rise."""
    places, legend_x, line = [], 14, 0
    for curve in next(iter(panels.values())):
        length = 32 + CHARACTER * len(curve.label)
        if legend_x + length > WIDTH:
            legend_x, line = 14, line + 1
        places.append((curve, legend_x, 18 + 20 * line))
        legend_x += length + 22
    height, top, bottom = 300 + 20 * line, 62 + 20 * line, 250 + 20 * line
    root = svg(title, height)
    for curve, x, y in places:
        add(root, "line", x1=x, x2=x + 26, y1=y, y2=y, **{"class": curve_class(curve)})
        add(root, "text", curve.label, x=x + 32, y=y + 4)
    width = WIDTH / len(panels)
    for index, (name, members) in enumerate(panels.items()):
        begin, end = index * width + 64, (index + 1) * width - 18
        x_of = Axis([0] + [x for curve in members for x, *_ in curve.points], begin, end)
        y_of = Axis([bound for curve in members for *_, low, high in curve.points for bound in (low, high)], bottom, top, logarithmic)
        draw_axes(root, name, (x_axis, x_of), (y_axis, y_of))
        for curve in members:
            band = [(x, high) for x, *_, high in curve.points] + [(x, low) for x, _, low, _ in curve.points[::-1]]
            add(root, "polygon", points=corners(band, x_of, y_of), **{"class": f"{curve.colour} band"})
        for curve in members:
            add(root, "polyline", points=corners([point[:2] for point in curve.points], x_of, y_of), **{"class": curve_class(curve)})
    save(root, path)


def draw_legend(root, drawn):
    """A disc for each name, {name: how it is drawn}, in a line above the panels."""
    x = 14
    for name, how in drawn.items():
        add(root, "circle", cx=x + 5, cy=18, r=4, **{"class": how})
        add(root, "text", name, x=x + 14, y=22)
        x += 14 + CHARACTER * len(name) + 22


# Colours of classes, in the order of their names.
CLASSES = ("epsilon-greedy", "lints", "linucb", "ensemble", "svgd", "vmg")


def scatter(path, title, points, classes):
    """Points (x, y, class, circled) of a plane whose axes mean nothing."""
    height, top = 430, 40
    root = svg(title, height)
    x_of = Axis([x for x, *_ in points], 14, WIDTH - 14)
    y_of = Axis([y for _, y, *_ in points], height - 14, top)
    colours = dict(zip(classes, CLASSES, strict=True))
    draw_legend(root, {name: f"{colours[name]} seeds" for name in classes})
    for x, y, name, _ in points:
        add(root, "circle", cx=number(x_of(x)), cy=number(y_of(y)), r=2.5, **{"class": f"{colours[name]} seeds"})
    for x, y, _, circled in points:
        if circled:
            add(root, "circle", cx=number(x_of(x)), cy=number(y_of(y)), r=8, **{"class": "published"})
    save(root, path)


def fits(path, title, x_axis, y_axis, panels):
    """Panels side by side, {title: (colour, [(x, y), …])}, on the same axes, with the line where both are equal."""
    top, bottom = 62, 300
    root = svg(title, bottom + 50)
    width = WIDTH / len(panels)
    values = [value for _, points in panels.values() for point in points for value in point]
    y_of = Axis(values, bottom, top)
    for index, (name, (colour, points)) in enumerate(panels.items()):
        begin, end = index * width + 64, (index + 1) * width - 18
        x_of = Axis(values, begin, end)
        draw_axes(root, name, (x_axis, x_of), (y_axis, y_of))
        low, high = min(values), max(values)
        add(root, "line", x1=x_of(low), x2=x_of(high), y1=y_of(low), y2=y_of(high), **{"class": "reference"})
        for x, y in points:
            add(root, "circle", cx=x_of(x), cy=y_of(y), r=2.6, **{"class": f"{colour} seeds"})
    save(root, path)


def surfaces(path, title, columns, classes, points, panels):
    """Panels side by side, {title: (x, y, probabilities)}: how likely the second of two classes is on a grid (row j of the probabilities lies at
    y[j]), in its colour where it is the likelier and in that of the first where that is, the fainter the less is known; `points` (x, y, class)
    lie upon each, `columns` names x and y."""
    top, bottom = 62, 250
    root = svg(title, bottom + 50)
    colours = dict(zip(classes, ("svgd", "s2vgd"), strict=True))
    draw_legend(root, colours)
    width = WIDTH / len(panels)
    for index, (name, (across, up, probabilities)) in enumerate(panels.items()):
        x_of = Axis([across[0], across[-1]], index * width + 56, (index + 1) * width - 12)
        y_of = Axis([up[0], up[-1]], bottom, top)
        draw_axes(root, name, (columns[0], x_of), (columns[1], y_of))
        half_x, half_y = (across[1] - across[0]) / 2, (up[1] - up[0]) / 2
        for y, line in zip(up, probabilities, strict=True):
            for begin, end, shade in runs_of([round(10 * (2 * probability - 1)) for probability in line]):
                if shade:
                    left, right = x_of(across[begin] - half_x), x_of(across[end - 1] + half_x)
                    add(root, "rect", x=left, y=y_of(y + half_y), width=right - left, height=y_of(y - half_y) - y_of(y + half_y),
                        style=f"fill-opacity:{abs(shade) / 18:.2f}", **{"class": f"{colours[classes[shade > 0]]} band"})
        for x, y, label in points:
            add(root, "circle", cx=x_of(x), cy=y_of(y), r=3, **{"class": colours[label]})
    save(root, path)


def runs_of(values):
    """(begin, end, value) of the stretches of equal neighbours."""
    begin = 0
    for end in range(1, len(values) + 1):
        if end == len(values) or values[end] != values[begin]:
            yield begin, end, values[begin]
            begin = end


def strips(path, title, tokens, rows, words):
    """A row of cells for each list of probabilities in `rows`, one cell a token, the darker the likelier (of `words` by the root of the
    probability); the tokens stand below, words on end."""
    left, cell, row_height, top = 84, 20 if words else 12, 22, 16
    root = svg(title, top + row_height * len(rows) + (96 if words else 34))
    for k, (name, probabilities) in enumerate(rows.items()):
        y = top + k * row_height
        add(root, "text", name, x=14, y=y + 14)
        for i, probability in enumerate(probabilities):
            add(root, "rect", x=left + i * cell, y=y, width=cell - 1, height=row_height - 3, **{"class": "svgd seeds"},
                style=f"fill-opacity:{math.sqrt(probability) if words else probability:.2f}")
    for i, token in enumerate(tokens):
        if words:
            place = f"translate({number(left + (i + 0.7) * cell)},{top + row_height * len(rows) + 8}) rotate(-70)"
            add(root, "text", token, transform=place, **{"text-anchor": "end"})
            continue
        shown = {" ": "␣", "\n": "↵", "\r": "↵"}.get(token, token)
        add(root, "text", shown, x=number(left + (i + 0.5) * cell), y=top + row_height * len(rows) + 14, **{"text-anchor": "middle"})
    save(root, path)


def curve_class(curve):
    return f"{curve.colour} curve" + (" dashed" if curve.dashed else "")


def corners(points, x_of, y_of):
    return " ".join(f"{number(x_of(x))},{number(y_of(y))}" for x, y in points)


def save(root, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    xml.indent(root, "")  # an element a line, for readable differences between versions
    path.write_text(xml.tostring(root, encoding="unicode") + "\n")
