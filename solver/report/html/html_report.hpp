// Reports as one page of HTML that needs no network: `staghorn report`. It is made from the JSON of reports alone, so
// that reports of other machines and of earlier days can be shown. Local.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "solver/report/observable.hpp"

namespace staghorn {

struct NamedReport {
  std::string name;  // of the file; the head of its column
  std::string json;  // as `staghorn solve --report`, `eigen --report` and `bench --json` write it
};

// The page: outcome, certificate, residuals over iterations, times, speed, memory, observables, links, machine and
// provenance of each report, side by side. `kinds`: the observables that are looked for. The JSON of each report stands
// in the page too, as <script type="application/json">. Throws Error where a text is not a report of this schema
// version.
std::string html_report(const std::vector<NamedReport>& reports, std::span<const ObservableKind> kinds);

}  // namespace staghorn
