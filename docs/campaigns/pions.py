"""Pion masses and the condensate, with jackknife errors and figures, on all configurations that a pattern names."""

import sys

import matplotlib.pyplot as plt
import staghorn
from staghorn.analysis import jackknife, pion_mass
from staghorn.plot import effective_masses

pattern, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])  # files, and the plateau in t
done = staghorn.campaign(pattern, masses=[0.03, 0.06, 0.12], sources=["corner-wall:0", "z2:7"], noise_vectors=4,
                         report="pions.json", results="pions.h5")
figure, axes = plt.subplots(figsize=(4, 3))
for mass in done.masses:
    pion = pion_mass(done.correlators(mass, "corner-wall:0"), first, last)
    condensate = jackknife(done.condensates(mass, "z2:7").mean(axis=1))
    effective_masses(done.correlators(mass, "corner-wall:0"), ax=axes, mass=pion, label=f"$am$ = {mass}")
    print(f"m = {mass}: pion {pion}, (a m_pi)^2 / a m = {pion.value**2 / mass:.2f}, "
          f"Tr M^-1 / V = {condensate.value:.5f} +- {condensate.error:.5f}")
figure.savefig("pions.pdf", bbox_inches="tight")
