// What solves say of physics: pion correlators as curves, chiral condensates as a table. Local.
#pragma once

#include <string>

#include "solver/report/html/report_tables.hpp"

namespace staghorn {

// HTML for each source and mass of each report; "" where no report has a correlator or a condensate.
std::string observables(const Reports& solves);

}  // namespace staghorn
