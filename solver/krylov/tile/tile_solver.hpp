// Conjugate Gradient on a tile of right-hand sides that come and go: a column that is done is taken out, and another
// right-hand side begins in its place, while the others go on.
//
// The bits of a solution depend neither on the other columns nor on how many there are. For that, columns begin and end
// where p is given, after a multiple of cg_refresh_interval iterations (cg_recurrences.hpp); a column that is done
// before waits until there.
#pragma once

#include <memory>
#include <vector>

#include "dirac/operators/operator_memory.hpp"
#include "solver/krylov/krylov_solver.hpp"
#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

// Operators on the same links. All must outlive the solver.
struct TileOperators {
  StaggeredOperator& iterated;         // in the precision of the iterations, for all columns
  StaggeredOperator& single;           // in the precision of the answer, for one right-hand side
  StaggeredOperator* sloppy_single{};  // mixed precision: as `iterated`, for one; empty without
};

class TileSolver {
 public:
  virtual ~TileSolver() = default;

  // Column `column`, which is free, begins with A x = b from x = 0, which `x` must hold. Both are fields of `single`,
  // and last until the column is taken out. Of `stop` count target, iterations, patience and norm of the source.
  // Collective.
  virtual void begin(int column, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop) = 0;
  // Runs up to cg_refresh_interval iterations of all columns. Collective.
  virtual void advance(const ShowProgress& show, const bool* interrupted) = 0;
  // Whether the column is occupied and done. Local.
  virtual bool is_done(int column) const = 0;
  // Takes a column out: x is the solution. An occupied column that is not done is out of iterations. Collective.
  virtual SolvedRhs finish(int column) = 0;

  // The state of an occupied column: values, and vectors on the parity of the system. It goes on with no bit changed
  // where `resume` gets these values in the place of `begin`, and the vectors then get what they were. Local.
  virtual void visit(const Archive& archive, int column) = 0;
  virtual std::vector<ColumnVector> vectors(int column) = 0;
  virtual void resume(int column, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                      const Archive& archive) = 0;

  // Iterations of the tile so far, and of all its columns together: `columns` times as many if the tile was full.
  // Local.
  virtual long iterations() const = 0;
  virtual long column_iterations() const = 0;
  virtual std::string form() const = 0;          // what the iterations ran as; "" before the first
  virtual std::string precise_form() const = 0;  // mixed precision: iterations in high precision, if any ran

  virtual std::int64_t bytes() const = 0;  // of its vectors; this rank
};

std::unique_ptr<TileSolver> make_tile_solver(const TileOperators& operators, Parity parity, double mass,
                                             LoopChoice choice);

// TileSolver::bytes() before anything is made, from the bytes of the vectors of `iterated`, of `single` and, with mixed
// precision, of `sloppy_single`.
double predicted_tile_bytes(const OperatorBytes& iterated, const OperatorBytes& single,
                            const OperatorBytes* sloppy_single);

}  // namespace staghorn
