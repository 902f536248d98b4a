#include "solver/krylov/tile/tile_loop.hpp"

#include <algorithm>
#include <utility>

#include "solver/krylov/cg_recurrences.hpp"

namespace staghorn {

TileLoop::TileLoop(StaggeredOperator& d, LoopChoice choice, bool restarted) : x_(d.make_solution()), work_(d) {
  const auto n = std::size_t(d.options().n_rhs);
  memory_.rhs.resize(n);
  memory_.hop_bounds.resize(n);
  stop_.target_norm.assign(n, 1);
  stop_.most_iterations.assign(n, 0);
  stop_.choice = choice;
  stop_.restarted = restarted;
  r2_.assign(n, 0);
  p2_.assign(n, 0);
  for (std::size_t column = 0; column < n; ++column) clear(int(column));
}

void TileLoop::begin(int column, const Start& start, double target_norm, long most_iterations, bool patient) {
  const auto i = std::size_t(column);
  x_.clear_rhs(column);
  work_.r.copy_rhs(column, start.r, 0);
  work_.p.copy_rhs(column, start.p, 0);
  r2_[i] = start.r2;
  p2_[i] = start.p2;
  stop_.target_norm[i] = target_norm;
  stop_.most_iterations[i] = most_iterations;
  CgStop alone = stop_;
  alone.target_norm = {target_norm};
  alone.most_iterations = {most_iterations};
  alone.patient = patient;
  memory_.rhs[i] = RunningRhs(std::span(&start.r2, 1), alone, 0).memory()[0];
  memory_.hop_bounds[i] = sum_near(p2_[i]).grid().bound;
}

void TileLoop::clear(int column) {
  const auto i = std::size_t(column);
  for (ColorVectorField* vector : {&x_, &work_.r, &work_.p}) vector->clear_rhs(column);
  memory_.rhs[i] = Running{};
  memory_.rhs[i].active = false;
  memory_.rhs[i].done.history = {0};  // an empty column has the residual 0 from the beginning
  memory_.hop_bounds[i] = sum_near(0).grid().bound;
  r2_[i] = p2_[i] = 0;
  stop_.target_norm[i] = 1;
}

void TileLoop::visit(const Archive& archive, int column) {
  const auto i = std::size_t(column);
  archive("r2", r2_[i]);
  archive("p2", p2_[i]);
  archive("hop_bound", memory_.hop_bounds[i]);
  archive("rhs", memory_.rhs[i]);
}

void TileLoop::resume(int column, const Archive& archive, double target_norm, long most_iterations) {
  visit(archive, column);
  stop_.target_norm[std::size_t(column)] = target_norm;
  stop_.most_iterations[std::size_t(column)] = most_iterations;
}

void TileLoop::advance(const ParitySystem& system, const ShowProgress& show, const bool* interrupted) {
  const auto done_before = [&] {
    long all = 0;
    for (const Running& running : memory_.rhs) all += running.done.iterations;
    return all;
  };
  const long before = memory_.iterations, of_columns = done_before();
  stop_.max_iterations = before + cg_refresh_interval;
  stop_.interrupted = interrupted;
  CgState state{x_, work_.r, work_.p, work_.tmp, r2_, p2_, &work_.loop, &memory_};
  const auto shown = [&](const CgProgress& at) {
    show({iterations_ + at.iteration - before, at.worst_ratio, at.iterations_per_e});
  };
  form_ = conjugate_gradient_loop(system, state, stop_, show ? shown : ShowProgress()).form;
  r2_ = std::move(state.r2);
  p2_ = std::move(state.p2);
  iterations_ += memory_.iterations - before;
  column_iterations_ += done_before() - of_columns;
  // Where all columns are done, the interval may have ended early. The next one begins as the first did.
  const bool any = std::any_of(memory_.rhs.begin(), memory_.rhs.end(), [](const Running& r) { return r.active; });
  if (!any) memory_.iterations = 0;
}

}  // namespace staghorn
