// What the solves of staghorn.h share: arguments read and checked, what the host is told.
#pragma once

#include <staghorn.h>

#include <functional>
#include <optional>

#include "solver/interface/handles.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

// Request and layout of a call, checked.
struct SolveArguments {
  staghorn_request request{};  // of this only what the table of options does not know: sign, guess, functions
  SolveOptions options;        // the fields of the request, and over them what was set by name
  VectorsArgument vectors;
  std::optional<Parity> sites, others;    // of the system; which D x of a solution lies on
  double source_scale = 1;                // the host's source times this is ours, for the same x
  VectorSigns of_sources, of_solutions;   // as those of the vectors, with sign and factor of the host's operator
  MemorySpace space = MemorySpace::host;  // of the library's own fields

  // Vectors of the host go to the GPU as they lie if the residuals are recomputed there. Adds what ranks must ask
  // alike. Local.
  void read(Asked& asked, const staghorn_request* request, const staghorn_vectors* vectors, const HeldGauge& held,
            OptionsOf whose = OptionsOf::call);
  // A full system that stops on its parity system.
  bool stops_on_parity() const { return options.request.stop == StopOn::parity; }
};

// What the host is told of one right-hand side whose squared norm is `b2`. `stopped` by the progress function. Seconds
// are left open. Local.
staghorn_result result_of(const SolveArguments& arguments, const RhsReport& rhs, double b2, bool stopped);

// Whether the host's vectors hold `x`, which was written to them on `sites`, but for rounding. `back` reads it from
// there. Collective.
bool is_held(const Communicator& communicator, HostReal real, std::optional<Parity> sites, const VectorField& x,
             const std::function<VectorField&()>& back);
// A solution that is not held is not certified. Local.
void tell_not_held(RhsReport& rhs);

// What staghorn_report says from now on. Tells the host each warning once for each context. Local.
void keep_report(HeldContext& context, SolveReport report);

}  // namespace staghorn
