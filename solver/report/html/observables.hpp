// What solves say of physics: curves as plots, means as a table. Local.
#pragma once

#include <span>
#include <string>

#include "solver/report/html/report_tables.hpp"
#include "solver/report/observable.hpp"

namespace staghorn {

// HTML for each source and mass of each report; "" where no report has an observable of these kinds.
std::string observables(const Reports& solves, std::span<const ObservableKind> kinds);

}  // namespace staghorn
