"""Two tastes of the pion, kaons and two tastes of the rho of HISQ quarks, with errors and a figure: tastes.py FIRST LAST FILE ..."""

import sys

import staghorn
from staghorn.analysis import meson_mass
from staghorn.plot import save, squared_masses

first, last, gauges = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]  # the slices of fits, and files of links
masses = [0.05, 0.1, 0.2]
for gauge in gauges:  # a wall needs links in Coulomb gauge
    staghorn.write_gauge(f"fixed_{gauge}", staghorn.smooth(gauge, "coulomb", tolerance=1e-8)[0], force=True)
done = staghorn.campaign([f"fixed_{gauge}" for gauge in gauges], None, "corner-wall:0", action="hisq", masses=masses,
                         mesons="all-local", report="tastes.json", results="tastes.h5", progress=True)


def fit(name, *pair):
    return meson_mass(done.mesons(name, pair).real, first, last, partner=name != "G5-G5")


names = {"pion, taste 5": "G5-G5", "pion, taste 5t": "G5T-G5T", "rho, taste z": "GZ-GZ", "rho, taste zt": "GZT-GZT"}
found = {label: [fit(name, m, m) for m in masses] for label, name in names.items()}
kaons = [fit("G5-G5", m, masses[-1]) for m in masses[:-1]]
axes = squared_masses(masses, found)
save(squared_masses([(m + masses[-1]) / 2 for m in masses[:-1]], {"kaon": kaons}, ax=axes, lines=False), "tastes.svg")
print(done, *(f"{label}: {'; '.join(map(str, of))}" for label, of in [*found.items(), ("kaon", kaons)]), sep="\n")
