// What a report says of the gauge and the machine that a run works with.
#pragma once

#include "solver/gauge/gauge.hpp"
#include "solver/report/run_setting.hpp"

namespace staghorn {

// Lattice, machine and links, and what `d` works with. Collective.
void fill_setting(RunSetting& setting, const Gauge& gauge, const StaggeredOperator& d);

}  // namespace staghorn
