// The even half of a full system whose tolerance is on the residual of that half, as CPS has it:
//
//   b'  = 2m b_e - D b_o       plain path, fp64, where the fields lie
//   A x_e = b'                 the certified solve of the even system
//   x_o = (b_o - D x_e) / 2m   plain path
//
// Private to session/. Collective.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "solver/gauge/gauge.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

class EvenHalf {
 public:
  // All must outlive the object.
  EvenHalf(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
           std::span<const VectorField> solutions);

  const SolveRequest& request() const { return even_; }
  std::span<const VectorField> sources() const { return sources_; }
  // From the solutions and the report of that half to those of the full system.
  void complete(std::span<VectorField> solutions, SolveReport& report);

 private:
  OperatorLinks links() { return gauge_.bench().plain_links(residual_->space()); }

  Gauge& gauge_;
  const SolveRequest& request_;
  std::span<const VectorField> given_;
  SolveRequest even_;
  std::vector<VectorField> sources_;  // b'
  std::optional<VectorField> residual_;
};

}  // namespace staghorn
