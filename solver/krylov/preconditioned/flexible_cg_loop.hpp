// The loop of flexible CG, for vectors of any kind (linear_system.hpp).
//
//   alpha = (r, z) / (p, A p);  x += alpha p;  r -= alpha A p;  z = P r
//   beta = (z, r - r_before) / (z_before, r_before);  p = z + beta p      [Notay, SIAM J. Sci. Comput. 22 (2000) 1444]
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "solver/krylov/preconditioned/linear_system.hpp"
#include "solver/krylov/running_rhs.hpp"

namespace staghorn {

template <class Vector>
struct FlexibleCgVectors {
  Vector r, r_before, z, p;
};

// Solves A x = b from x = 0, which x must hold. `precondition(z, r)`: z = P r, where P is near the inverse of A,
// Hermitian and positive, and may change a little from call to call. Searches on colour vectors can be kept
// (stop.keeper). Collective.
template <class Vector>
CgResult flexible_cg_loop(LinearSystem<Vector>& system, FlexibleCgVectors<Vector>& work,
                          const std::function<void(Vector&, const Vector&)>& precondition, Vector& x, const Vector& b,
                          const CgStop& asked, const ShowProgress& show) {
  auto& [r, r_before, z, p] = work;
  CgStop stop = asked;
  stop.restarted = true;  // the coefficients are those of P A
  std::vector<ExactSum> sums = sums_of_sources(stop), product_sums = sums;
  std::vector<double> r_z, p2;
  long iteration = 0;
  const auto search = [&](const Archive& archive) {
    archive("p2", p2, stop.target_norm.size());
    archive("r_z", r_z, stop.target_norm.size());
    archive.count("iterations", iteration);
    archive_sums(archive, "bounds", sums);
    archive_sums(archive, "hop_bounds", product_sums);
  };
  r.copy_from(b);
  RunningRhs running(system.norm2(r, sums), stop, system.least_eigenvalue());
  const auto visit = [&](const Archive& archive) {
    archive("search", search);
    archive("right_hand_sides", running);
  };
  bool goes_on = false;
  if constexpr (std::is_same_v<Vector, ColorVectorField>)
    if (const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr) {
      visit(*kept);
      stop.keeper->restore({&x, &r, &p});
      goes_on = true;
    }
  if (!goes_on) {
    precondition(z, r);
    r_z = system.dot(z, r);
    p.copy_from(z);
    std::vector<ExactSum> once = sums_near(r_z);
    p2 = system.norm2(p, once);
    product_sums = sums_near(p2);
  }
  while (running.go_on(iteration + 1)) {
    ++iteration;
    const std::vector<double> alpha = running.alpha(r_z, system.product(p, p2, product_sums));
    r_before.copy_from(r);
    running.take_residuals(system.update_residual(r, p, alpha, sums));
    std::vector<double> beta(alpha.size(), 0);
    if (running.count_active() > 0) {
      precondition(z, r);
      const std::vector<double> before = std::exchange(r_z, system.dot(z, r)), z_r_before = system.dot(z, r_before);
      std::vector<double> change(beta.size());
      for (std::size_t i = 0; i < beta.size(); ++i) change[i] = r_z[i] - z_r_before[i];
      beta = running.ratio(change, before);
    }
    std::vector<ExactSum> direction_sums = sums_near(p2);
    p2 = system.update_direction(x, p, z, alpha, beta, direction_sums);
    if (show) show(running.progress(iteration));
    if constexpr (std::is_same_v<Vector, ColorVectorField>)
      if (stop.keeper && running.go_on(iteration + 1) && stop.keeper->is_due())
        stop.keeper->keep({{&x, &r, &p}, visit});
  }
  std::vector<SolvedRhs> results = running.results();
  for (SolvedRhs& rhs : results) rhs.steps.clear();  // they say nothing of A
  return {std::move(results), LoopForm::host, {}, nullptr};
}

}  // namespace staghorn
