"""python -m staghorn.plot report.json ... [--what residuals] [--png FILE]: a report in the terminal, or as a picture."""

from __future__ import annotations

import argparse
import shutil
import sys
import staghorn.plot
from staghorn.errors import Error

from .reports import report_of
from .terminal import residual_plot

PICTURES = {"residuals": "residuals", "times": "times", "roofline": "roofline", "scaling": "scaling", "pion": "pion",
            "effective-mass": "effective_masses", "condensate": "condensate", "spectrum": "spectrum"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m staghorn.plot", description="Shows reports of Staghorn.")
    parser.add_argument("reports", nargs="+", metavar="report", help="JSON of `staghorn solve --report` or `staghorn bench --json`")
    parser.add_argument("--what", choices=PICTURES, default="residuals", help="which picture is written (default: residuals)")
    parser.add_argument("--output", "--png", metavar="FILE", help="write the picture: PNG, PDF or SVG, as the name ends")
    parser.add_argument("--width", type=int, default=min(100, shutil.get_terminal_size((78, 24)).columns),
                        help="of lines in the terminal")
    options = parser.parse_args(arguments)
    if options.what == "residuals":
        ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
        for report in options.reports:
            if "configurations" in report_of(report):
                from ..campaigns import Campaign

                print(Campaign.read(report))
                continue
            print(residual_plot(report_of(report), width=max(40, options.width), ascii_only=ascii_only))
    elif not options.output:
        parser.error(f"--what {options.what} needs --output FILE")
    if options.output:
        draw = getattr(staghorn.plot, PICTURES[options.what])
        staghorn.plot.save(draw(options.reports), options.output)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Error as error:
        sys.exit(f"error: {error}")
