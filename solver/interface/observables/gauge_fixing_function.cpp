// staghorn_fix_gauge: links of a host in Landau or Coulomb gauge, in place.
#include <staghorn.h>

#include <array>
#include <cmath>

#include "dirac/gauge/smoothing/gauge_fixing.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/link_calls.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"

namespace staghorn {

namespace {

struct FixCall {
  const staghorn_links* links;
  void* const* u;
  int directions;
  double relaxation, tolerance;
  int stop, max_sweeps;
  double *functionals, *theta;
  int* sweeps;
};

int fix(const HeldContext& held, const FixCall& call) {
  const Context& context = *held.context;
  const Communicator& all = context.communicator();
  PassingLinks passing;
  std::array<void*, 4> written{};
  agree_alike(all, "staghorn_fix_gauge", [&](Asked& asked) {
    CallMemory memory, read_only;
    passing = read_passing(asked, {"links", call.links, call.u}, context, read_only);
    for (int mu = 0; mu < buffers_of(passing.layout.order); ++mu) {
      written[std::size_t(mu)] = call.u[mu];
      memory.writes("links", bytes_of(passing.layout, context.lattice().local(), call.u[mu]), mu);
    }
    check_choice("directions", call.directions, int(GaugeCondition::coulomb), int(GaugeCondition::landau));
    check_choice("stop", call.stop, STAGHORN_STOP_ON_THETA, STAGHORN_STOP_ON_CHANGE);
    check_choice("max_sweeps", call.max_sweeps, 0, 1000000000);
    asked.add("directions", call.directions);
    asked.add("stop", call.stop);
    asked.add("max_sweeps", call.max_sweeps);
    asked.add("relaxation", call.relaxation);
    asked.add("tolerance", call.tolerance);
    if (!(call.relaxation >= 1 && call.relaxation < 2))
      throw Error(ErrorKind::argument, "relaxation", "a number from 1 to below 2", call.relaxation);
    if (!(call.tolerance >= 0) || std::isinf(call.tolerance))
      throw Error(ErrorKind::argument, "tolerance", "a number of at least 0", call.tolerance);
    check_pointer("functionals", call.functionals);
    memory.writes("functionals", call.functionals, 2);
    if (call.theta) memory.writes("theta", call.theta, 1);
    if (call.sweeps) memory.writes("sweeps", call.sweeps, 1);
    memory.require_own();
  });
  LinkField links(context.lattice());
  take_links(all, passing.layout, passing.buffers, links);
  const auto condition = GaugeCondition(call.directions);
  GaugeFunctional now = gauge_functional(all, links, condition);
  if (!std::isfinite(now.functional)) throw Error(ErrorKind::value, "links", "finite numbers", "others");
  const double first = now.functional;
  double change = now.theta;  // before the first sweep nothing has changed yet
  int sweeps = 0;
  const auto is_fixed = [&] {
    return call.stop == STAGHORN_STOP_ON_THETA ? now.theta <= call.tolerance : sweeps > 0 && change < call.tolerance;
  };
  for (; sweeps < call.max_sweeps && !is_fixed(); ++sweeps) {
    relaxation_sweep(all, links, condition, call.relaxation);
    const GaugeFunctional then = gauge_functional(all, links, condition);
    change = std::fabs(then.functional - now.functional);
    now = then;
  }
  if (sweeps > 0) all.agree([&] { write_links(passing.layout, links, written); });
  call.functionals[0] = first;
  call.functionals[1] = now.functional;
  if (call.theta) *call.theta = now.theta;
  if (call.sweeps) *call.sweeps = sweeps;
  return is_fixed() ? STAGHORN_OK : STAGHORN_NOT_CONVERGED;
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_fix_gauge(staghorn_context* context, const staghorn_links* links, void* const u[4], int directions,
                       double relaxation, double tolerance, int stop, int max_sweeps, double functionals[2],
                       double* theta, int* sweeps) {
  const FixCall call{links, u, directions, relaxation, tolerance, stop, max_sweeps, functionals, theta, sweeps};
  return collectively(context, [&](HeldContext& held) { return fix(held, call); });
}
