"""Masses of pions, kaons and rhos of HISQ quarks, with errors and figures, on all configurations that a pattern names."""

import glob
import sys

import staghorn
from staghorn.analysis import meson_mass, pion_mass
from staghorn.plot import new_axes, save, squared_masses, effective_masses

pattern, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])  # files, and the slices of fits
masses = [0.05, 0.1, 0.2]
for path in sorted(glob.glob(pattern)):  # a wall needs a fixed gauge
    links, _ = staghorn.smooth(path, "coulomb")
    staghorn.write_gauge(f"fixed_{path}", links, force=True)
done = staghorn.campaign(f"fixed_{pattern}", None, "corner-wall:0", action="hisq", masses=masses, mesons="all-local",
                         report="tastes.json", progress=True)
print(done)


def fits(name, pairs):
    return [meson_mass(done.mesons(name, pair).real, first, last) for pair in pairs]


equal, heavy = [(m, m) for m in masses], [(m, masses[-1]) for m in masses]
found = {"pion, taste 5": fits("G5-G5", equal), "pion, taste 5t": fits("G5T-G5T", equal), "rho": fits("GX-GX", equal)}
for name, of in found.items():
    print(name, *of, sep="\n  ")
