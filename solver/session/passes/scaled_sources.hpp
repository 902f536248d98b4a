// Sources whose numbers are so small or large that their squares leave the range of a double. They are solved times a
// power of two: the system is linear, and such a factor changes no mantissa, so x has the bits of x for a source of a
// usual size. Private to session/. Collective throughout.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// Whether |b|^2 is so small or large that it may not be computed with. Local.
bool is_out_of_range(double b2);

// v times 2^400, so often, on the sites of the system; less than 0: times 2^-400. Local.
void multiply_times(System system, VectorField& v, int times);

// Multiplies b by 2^400 or by 2^-400, on the sites of the system, until |b|^2 is in range, and makes `b2` that norm.
// Returns how often; less than 0: by 2^-400. `b2` is that of source_norms2.
int bring_into_range(const Communicator& communicator, System system, VectorField& b, double& b2);

// |b|^2 on the sites of the system, of numbers of any size; b may be zero. Collective.
double norm2_of_any_size(const Communicator& communicator, System system, const VectorField& b);

// What judges a solution: fp64, uncompressed links, beside the fields. `residual` is work space.
struct Judge {
  const Communicator& communicator;
  OperatorLinks links;
  const Boundary& boundary;
  VectorField& residual;
};

// residual = b - M x, or b - A x, by the plain path; returns its squared norm.
double true_residual(const Judge& judge, const SolveRequest& request, const VectorField& x, const VectorField& b);

// Takes the solution x of a source that was multiplied so many times back to the size of the source as it was given.
// Where a double cannot hold all its digits there, the residual of what it holds is computed, and decides.
void take_back(const Judge& judge, const SolveRequest& request, double tolerance, const VectorField& b, int times,
               VectorField& x, RhsReport& rhs);

// The sources of a job, multiplied where one is out of range.
class SourcesInRange {
 public:
  // Guesses in `solutions` become those of the sources in range, until take_back, or until the object goes. All but
  // `zero_source_is_a_result`, without which such a source throws Error, must outlive the object.
  SourcesInRange(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                 std::span<VectorField> solutions, bool zero_source_is_a_result);
  ~SourcesInRange();
  SourcesInRange(const SourcesInRange&) = delete;
  SourcesInRange& operator=(const SourcesInRange&) = delete;

  std::span<const VectorField> sources() const { return times_.empty() ? given_ : scaled_; }
  std::span<const double> b2() const { return b2_; }
  // Solutions to the size of the sources that were given. What a double cannot hold there is judged as it is held.
  void take_back(SolveReport& report);

 private:
  void multiply_solutions(int sign);

  Gauge& gauge_;
  const SolveRequest& request_;
  std::span<const VectorField> given_;
  std::span<VectorField> solutions_;
  std::vector<double> b2_;
  std::vector<VectorField> scaled_;
  std::optional<VectorField> residual_;
  std::vector<int> times_;  // of each source; none where all are in range, and in the end
};

}  // namespace staghorn
