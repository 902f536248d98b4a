// MILC's links in Landau or Coulomb gauge, by staghorn_fix_gauge.
#include <quda_milc_interface.h>

#include <cstdio>

#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/site_fields.hpp"

namespace staghorn::milc {

namespace {

struct AskedFixing {
  unsigned int direction;
  int steps;
  double relaxation, tolerance;
  unsigned int stop_theta;
};

// MILC takes its phases out of links before it asks.
void fix(const SiteField& links, const AskedFixing& asked) {
  check_choice("direction", asked.direction, 3, 4);
  const staghorn_links layout = links.layout(false);
  void* const u[4] = {links.first_site(), nullptr, nullptr, nullptr};
  double functionals[2] = {0, 0}, theta = 0;
  int sweeps = 0;
  const int status = require(staghorn_fix_gauge(
      host().context(), &layout, u, int(asked.direction), asked.relaxation, asked.tolerance,
      asked.stop_theta ? STAGHORN_STOP_ON_THETA : STAGHORN_STOP_ON_CHANGE, asked.steps, functionals, &theta, &sweeps));
  if (!host().is_verbose()) return;
  std::printf("staghorn: qudaGaugeFixingOVR: %s after %d sweeps, functional %.12f -> %.12f, theta %.2e\n",
              staghorn_status_text(status), sweeps, functionals[0], functionals[1], theta);
  std::fflush(stdout);
}

}  // namespace

}  // namespace staghorn::milc

using namespace staghorn::milc;

void qudaGaugeFixingOVR(int precision, unsigned int direction, int steps, int, double relaxation, double tolerance,
                        unsigned int, unsigned int stop_theta, QudaMILCSiteArg_t* arg) {
  run_timed("qudaGaugeFixingOVR", [&] {
    fix(SiteField::links(precision, arg), {direction, steps, relaxation, tolerance, stop_theta});
  });
}
