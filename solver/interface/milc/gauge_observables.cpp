// Plaquettes, Polyakov loops and other closed loops of MILC's links, all by staghorn_loop_traces.
#include <quda_milc_interface.h>

#include <array>
#include <cstdint>
#include <vector>

#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/site_fields.hpp"

namespace staghorn::milc {

namespace {

using Path = std::vector<std::int32_t>;  // steps as staghorn.h has them

// tr P / 3, the mean over sites: real and imaginary part of each path.
std::vector<double> mean_traces(const SiteField& links, int phase_in, const std::vector<Path>& paths) {
  std::vector<double> traces(2 * paths.size());
  std::vector<const std::int32_t*> steps;
  std::vector<std::int32_t> lengths;
  for (const Path& path : paths) {
    steps.push_back(path.data());
    lengths.push_back(std::int32_t(path.size()));
  }
  const staghorn_links layout = links.layout(phase_in != 0);
  const void* const u[4] = {links.first_site(), nullptr, nullptr, nullptr};
  require(staghorn_loop_traces(host().context(), &layout, u, int(paths.size()), steps.data(), lengths.data(),
                               traces.data()));
  return traces;
}

void measure_plaquettes(const SiteField& links, int phase_in, double* plaquettes) {
  check_pointer("plaquettes", plaquettes);
  std::vector<Path> planes;
  for (const auto& [mu, nu] : std::array<std::pair<int, int>, 6>{{{0, 1}, {0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 3}}})
    planes.push_back({mu, nu, -1 - mu, -1 - nu});
  const std::vector<double> traces = mean_traces(links, phase_in, planes);
  const double space = (traces[0] + traces[2] + traces[4]) / 3, time = (traces[6] + traces[8] + traces[10]) / 3;
  plaquettes[0] = (space + time) / 2;
  plaquettes[1] = space;
  plaquettes[2] = time;
}

void measure_polyakov_loop(const SiteField& links, int phase_in, int direction, double* loop) {
  check_pointer("loop", loop);
  check_choice("direction", direction, 0, 3);
  const int extent = host().extents()[std::size_t(direction)];
  const std::vector<double> trace = mean_traces(links, phase_in, {Path(std::size_t(extent), direction)});
  for (std::size_t part = 0; part < 2; ++part) loop[part] = 3 * trace[part];
}

// The loops that a call asks for.
struct AskedLoops {
  double* traces;
  int** paths;
  const int* lengths;
  const double* coefficients;
  int n, longest;
  double factor;
};

void measure_loops(const SiteField& links, int phase_in, const AskedLoops& asked) {
  for (const auto& [name, pointer] : {std::pair<const char*, const void*>{"traces", asked.traces},
                                      {"paths", asked.paths},
                                      {"lengths", asked.lengths},
                                      {"coefficients", asked.coefficients}})
    check_pointer(name, pointer);
  check_choice("number of paths", asked.n, 1, 4096);
  std::vector<Path> paths;
  for (int i = 0; i < asked.n; ++i) {
    check_pointer("paths[i]", asked.paths[i]);
    check_choice("lengths[i]", asked.lengths[i], 1, asked.longest);
    Path& path = paths.emplace_back();
    for (int k = 0; k < asked.lengths[i]; ++k) {
      const int step = asked.paths[i][k];
      check_choice("step of a path", step, 0, 7);
      path.push_back(step < 4 ? step : step - 8);  // MILC: 7 is -x, 4 is -t
    }
  }
  double traces_summed = 3;  // those of the mean over sites and colours
  for (const int n : host().extents()) traces_summed *= n;
  const std::vector<double> mean = mean_traces(links, phase_in, paths);
  for (std::size_t i = 0; i < mean.size(); ++i)
    asked.traces[i] = asked.factor * asked.coefficients[i / 2] * (traces_summed * mean[i]);
}

}  // namespace

}  // namespace staghorn::milc

using namespace staghorn::milc;

void qudaPlaquettePhased(int precision, double plaquettes[3], QudaMILCSiteArg_t* arg, int phase_in) {
  run_timed("qudaPlaquettePhased", [&] { measure_plaquettes(SiteField::links(precision, arg), phase_in, plaquettes); });
}

void qudaPolyakovLoopPhased(int precision, double loop[2], int direction, QudaMILCSiteArg_t* arg, int phase_in) {
  run_timed("qudaPolyakovLoopPhased",
            [&] { measure_polyakov_loop(SiteField::links(precision, arg), phase_in, direction, loop); });
}

void qudaGaugeLoopTracePhased(int precision, double* traces, int** paths, int* lengths, double* coefficients, int n,
                              int longest, double factor, QudaMILCSiteArg_t* arg, int phase_in) {
  run_timed("qudaGaugeLoopTracePhased", [&] {
    measure_loops(SiteField::links(precision, arg), phase_in,
                  {traces, paths, lengths, coefficients, n, longest, factor});
  });
}

void qudaGaugeMeasurementsPhased(int precision, double plaquettes[3], double loop[2], int direction, double* traces,
                                 int** paths, int* lengths, double* coefficients, int n, int longest, double factor,
                                 QudaMILCSiteArg_t* arg, int phase_in) {
  run_timed("qudaGaugeMeasurementsPhased", [&] {
    const SiteField links = SiteField::links(precision, arg);
    measure_plaquettes(links, phase_in, plaquettes);
    measure_polyakov_loop(links, phase_in, direction, loop);
    measure_loops(links, phase_in, {traces, paths, lengths, coefficients, n, longest, factor});
  });
}
