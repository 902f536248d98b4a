// Sections of a page that are more than a table of values: HTML, or "" where no report has anything for them. Local.
#pragma once

#include <span>
#include <string>

#include "solver/report/html/report_tables.hpp"
#include "solver/report/observable.hpp"

namespace staghorn {

// What solves say of physics, for each source and mass of each report: curves as plots, means as a table.
std::string observables(const Reports& solves, std::span<const ObservableKind> kinds);

// Of campaigns: means over the certified configurations with jackknife errors, by source and mass: a table of means,
// plots of curves and of effective masses. Then a line for each configuration, and certificates to unfold.
std::string campaign_means(const Reports& campaigns, std::span<const ObservableKind> kinds);
std::string campaign_configurations(const Reports& campaigns);

// Of one solve: what each right-hand side was asked and has reached.
std::string certificate(const ReadReport& solve);

// How solves converged, all right-hand sides of all reports in one plot: a curve for each right-hand side, a cross for
// its recomputed residual, dashed tolerances. A curve that begins above 1 is divided by its first value, and so are its
// cross and its tolerance: a full system starts from b / 2m on the sites that CG does not solve for, where noise has a
// residual far above |b|.
std::string residual_plot(const Reports& solves);

// Kernels of `staghorn bench` under the roof of the memory: a plot, and their table.
std::string roofline(const Reports& benches);

}  // namespace staghorn
