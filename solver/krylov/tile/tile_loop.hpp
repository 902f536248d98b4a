// The loop of Conjugate Gradient whose columns begin and end between its intervals. Private to this folder.
#pragma once

#include <optional>

#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/tile/tile_solver.hpp"

namespace staghorn {

class TileLoop {
 public:
  // All columns of `d` are free. `d` must outlive the loop. `restarted`: see CgStop. Local.
  TileLoop(StaggeredOperator& d, LoopChoice choice, bool restarted);

  // A column begins from x = 0 with the residual r and the direction p, fields of one right-hand side, and their norms.
  // Local.
  struct Start {
    const ColorVectorField &r, &p;
    double r2, p2;
  };
  void begin(int column, const Start& start, double target_norm, long most_iterations, bool patient = false);
  void clear(int column);  // the column is free. Local.

  // The state of a column, as TileSolver has it. Local.
  void visit(const Archive& archive, int column);
  std::vector<ColumnVector> vectors(int column) { return {{&x_, column}, {&work_.r, column}, {&work_.p, column}}; }
  void resume(int column, const Archive& archive, double target_norm, long most_iterations);

  // Up to cg_refresh_interval iterations. x, r and p of every column are then complete. Collective.
  void advance(const ParitySystem& system, const ShowProgress& show, const bool* interrupted);

  const Running& at(int column) const { return memory_.rhs[std::size_t(column)]; }
  const ColorVectorField& x() const { return x_; }
  const ColorVectorField& r() const { return work_.r; }
  const ColorVectorField& p() const { return work_.p; }
  int columns() const { return int(memory_.rhs.size()); }
  long iterations() const { return iterations_; }
  long column_iterations() const { return column_iterations_; }
  std::optional<LoopForm> form() const { return form_; }
  std::int64_t bytes() const { return x_.bytes() + work_.bytes(); }

 private:
  ColorVectorField x_;
  CgVectors work_;
  LoopMemory memory_;
  CgStop stop_;
  std::vector<double> r2_, p2_;
  long iterations_ = 0, column_iterations_ = 0;
  std::optional<LoopForm> form_;
};

}  // namespace staghorn
