"""Figures fit for a paper: sizes in columns, small fonts, one set of colours, files by their names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..arguments import checked
from ..errors import Error
from ..paths import PathLike, shown
from ..progress import in_notebook

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTHS = {"column": 3.4, "page": 7.0}  # inches
# Told apart by people who see few colours, and in grey (Okabe and Ito, 2008, without yellow).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vP*"
FORMATS = ("png", "pdf", "svg")

_STYLE: Mapping[str, Any] = {
    "font.size": 8, "axes.labelsize": 8, "axes.titlesize": 8, "legend.fontsize": 7, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.linewidth": 0.6, "lines.linewidth": 1.0, "lines.markersize": 3.5, "xtick.direction": "in", "ytick.direction": "in",
    "xtick.top": True, "ytick.right": True, "legend.frameon": False, "errorbar.capsize": 1.5, "pdf.fonttype": 42,
    "svg.fonttype": "none", "svg.hashsalt": "staghorn", "mathtext.fontset": "dejavusans",
}


@contextmanager
def style() -> Iterator[None]:
    """Sizes and fonts of Staghorn's figures, while they are drawn; settings of the caller come back."""
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("staghorn.plot draws with matplotlib, which is not here: pip install 'staghorn[plot]' or matplotlib",
                                  name=error.name) from None

    if in_notebook():
        from matplotlib import pyplot

        # The notebook's way of drawing loads with the first call. What it sets must stay, so it loads before these settings.
        pyplot.draw_if_interactive()
    settings: Any = dict(_STYLE)
    with matplotlib.rc_context(settings):
        yield


@checked
def new_axes(width: str = "column", height: float | None = None, *, figsize: tuple[float, float] | None = None) -> Axes:
    """Axes in a figure of their own, one column or one page wide; `height`, or width and height `figsize`, in inches. In a notebook
    the figure shows itself, elsewhere no display is needed."""
    if width not in WIDTHS:
        raise Error(f"width: expected column or page, found {width!r}", "argument")
    if height is not None and not 0 < height <= 100:
        raise Error(f"height: expected up to 100 inches, found {height}", "argument")
    if figsize is not None and not all(0 < inches <= 100 for inches in figsize):
        raise Error(f"figsize: expected width and height of up to 100 inches, found {figsize}", "argument")
    across = WIDTHS[width]
    size = figsize if figsize is not None else (across, height if height is not None else 0.72 * across)
    figure: Figure
    if in_notebook():
        from matplotlib import pyplot

        figure = pyplot.figure(figsize=size, dpi=150, layout="constrained")
    else:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as PlainFigure

        figure = PlainFigure(figsize=size, dpi=150, layout="constrained")
        FigureCanvasAgg(figure)
    return figure.add_subplot()


@checked
def save(plotted: Axes | Figure, path: PathLike) -> None:
    """Writes a figure to `path`: PNG (300 dots an inch), PDF or SVG, as its name ends. Nothing in the file depends on the time.
    Raises Error."""
    ending = os.path.splitext(os.fsdecode(path))[1].lstrip(".").lower()
    if ending not in FORMATS:
        raise Error(f"{shown(path)}: expected a name that ends in .png, .pdf or .svg, found {'.' + ending if ending else 'none'}",
                    "argument")
    figure: Any = getattr(plotted, "figure", None) or plotted
    metadata: dict[str, Any] = {"png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
                                "svg": {"Date": None, "Creator": None}}[ending]
    with style():
        figure.savefig(os.fsdecode(path), dpi=300, metadata=metadata)


def color(k: int) -> str:
    return COLORS[k % len(COLORS)]


def shades(n: int) -> list[tuple[float, float, float, float]]:
    """n colours from dark to light, for many lines of one kind."""
    import matplotlib

    mapped = matplotlib.colormaps["viridis"]
    return [tuple(mapped(0.05 + 0.8 * k / max(1, n - 1))) for k in range(n)]  # type: ignore[misc]


def styled(axes: Axes, across: str, up: str, *, title: str = "", legend: bool = True, columns: int = 1) -> None:
    """Labels, ticks and frame of the style, whoever made the axes; a legend under them."""
    size = _STYLE["font.size"]
    axes.set_xlabel(across, fontsize=size)
    axes.set_ylabel(up, fontsize=size)
    axes.set_title(title, loc="left", fontsize=size)
    axes.tick_params(which="both", direction="in", top=True, right=True, labelsize=_STYLE["xtick.labelsize"])
    for spine in axes.spines.values():
        spine.set_linewidth(_STYLE["axes.linewidth"])
    if legend and axes.get_legend_handles_labels()[1]:
        legend_below(axes, columns)


def legend_below(axes: Axes, columns: int = 1) -> None:
    """A legend under the axes, where it hides no point however long its texts are."""
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), bbox_transform=_below_labels(axes), ncols=columns,
                columnspacing=1.0, handlelength=1.4, borderaxespad=0.0)


def _below_labels(axes: Axes) -> Any:
    """Axes' coordinates, moved down by the height of tick labels and the label of the axis."""
    from matplotlib.transforms import ScaledTranslation

    figure: Any = axes.figure
    return axes.transAxes + ScaledTranslation(0, -0.36, figure.dpi_scale_trans)
