// Many sources, a few at a time: made when their turn comes, and handed on when they are certified.
#pragma once

#include <functional>
#include <string>

#include "lattice_io/files/output_file.hpp"
#include "lattice_io/vectors/vector_stream.hpp"
#include "solver/request/source_list.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// Where solutions go: solution `number` of mass after mass, source after source, on the host. Each comes once, in any
// order. Collective.
using TakeSolution = std::function<void(std::size_t number, const VectorField& x)>;

// Solves for all sources of the list, `many.batch` at a time, and returns the complete report. By plain CG and in mixed
// precision sources take turns in the batch, and the bits of a solution depend neither on the other sources nor on the
// batch. Other solvers, and several masses, take one batch after the other. `take` may be empty. Throws Error for what
// goes with a single batch only (`chronological`, `inject`, `recover`), naming it. Collective.
SolveReport solve_many(Session& session, const SolveRequest& request, const ManySources& many,
                       const SourceList& sources, const TakeSolution& take,
                       const std::function<void(const CgProgress&)>& progress = {});

// A solution file that grows: it has its name once it is complete.
class GrowingSolutions {
 public:
  // For `n_solutions` vectors in fp64. `communicator` and `lattice` must outlive this. Throws Error as OutputFile does.
  GrowingSolutions(const Communicator& communicator, const Lattice& lattice, const std::string& path, bool force,
                   std::size_t n_solutions);
  void take(std::size_t number, const VectorField& x) { writer_.write(std::int64_t(number), x); }
  void finish(const SolveReport& report);  // once all are there

 private:
  OutputFile output_;
  VectorWriter writer_;
};

}  // namespace staghorn
