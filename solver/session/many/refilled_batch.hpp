// Certified solves of many sources that take turns in the columns of a tile: a source that is done leaves its column to
// the next one. Private to this folder. Collective throughout.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "solver/gauge/gauge.hpp"
#include "solver/krylov/tile/tile_solver.hpp"
#include "solver/session/passes/certified_solve.hpp"

namespace staghorn {

// How full the columns were.
struct BatchUse {
  int columns = 0;
  long iterations = 0;         // of the tile
  long column_iterations = 0;  // of all right-hand sides together
  // The same while sources were waiting for a column.
  long iterations_waited = 0, column_iterations_waited = 0;
  void visit(const Archive& archive);  // all but the columns
};

// One source in a column: its fields, where the certificate runs, and its passes.
struct BatchColumn {
  std::size_t source;
  std::vector<VectorField> b, x;  // one each, in CPS phases
  std::vector<double> b2;
  int times = 0;  // that b was multiplied (scaled_sources.hpp)
  EvenOddPass pass;
  CertifiedWork work;  // with that pass
  std::unique_ptr<Passes> passes;
  bool is_solved = false;  // nothing is left to iterate

  BatchColumn(std::size_t source, StaggeredOperator& single, LoopChoice choice,
              const std::function<CertifiedWork(EvenOddPass&)>& work_with)
      : source(source), pass(single, nullptr, choice), work(work_with(pass)) {}
};

class RefilledBatch {
 public:
  // `columns` as Workbench::prepare_batch has them. `gauge` and `request` must outlive the batch.
  RefilledBatch(Gauge& gauge, const SolveRequest& request, int columns, std::size_t n_sources);

  int columns() const { return int(columns_.size()); }
  bool has_free_column() const;
  bool is_empty() const;

  // A source in CPS phases begins, from zero, in a free column. It may be done at once, and is then in the next
  // `advance`.
  void begin(std::size_t source, VectorField b);
  // The same for a source that was in flight when a state was kept: `so_far` is its solution in the space of the host,
  // nullptr for zero; `state` is that of the column. The vectors of the column are filled afterwards.
  void resume(std::size_t source, VectorField b, const VectorField* so_far, const Archive& state);
  // The state of a column. Local.
  bool is_occupied(std::size_t column) const { return columns_[column] != nullptr; }
  std::size_t source(std::size_t column) const { return columns_[column]->source; }
  const VectorField& solution_so_far(std::size_t column) const { return columns_[column]->x[0]; }
  void visit(const Archive& archive, std::size_t column);
  std::vector<ColumnVector> vectors(std::size_t column) { return tile_->vectors(int(column)); }
  void set_use_before(const BatchUse& use) { before_ = use; }

  // Runs some iterations of all columns, and certifies those that are done. `done` takes what a source came to, with
  // its solution in CPS phases, which lies where the certificate runs. `waiting`: whether others wait for a column.
  void advance(const ShowProgress& progress, bool waiting,
               const std::function<void(std::size_t source, const VectorField& x, CertifiedSolve&& done)>& done);

  BatchUse use() const;
  std::string form() const { return tile_->form(); }
  std::string precise_form() const { return tile_->precise_form(); }
  double solve_seconds() const { return solve_seconds_; }  // in the iterations of the tile
  double vector_bytes() const;                             // the most there were; this rank
  double halo_bytes() const;                               // of the operators made here
  double field_bytes() const;                              // sources and solutions of the columns, at most

 private:
  std::size_t place(std::size_t source, VectorField b);  // in a free column; returns which
  void certify(std::size_t column, const Archive* kept = nullptr);
  void count_bytes();

  const Gauge& gauge_;
  const SolveRequest& request_;
  const Workbench::BatchParts parts_;
  StaggeredOperator single_;
  std::unique_ptr<StaggeredOperator> sloppy_single_;
  std::unique_ptr<TileSolver> tile_;
  std::vector<std::unique_ptr<BatchColumn>> columns_;  // empty: free
  double pass_bytes_ = 0, field_bytes_ = 0;
  double solve_seconds_ = 0;
  BatchUse use_, before_;
};

}  // namespace staghorn
