// What staghorn_solve and staghorn_multishift share: arguments read and checked, what the solver is asked, what the
// host is told.
#pragma once

#include <staghorn.h>

#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/host_fields.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

// Request and layout of a call, checked.
struct SolveArguments {
  staghorn_request request{};  // of this only what the table of options does not know: sign, guess, functions
  SolveOptions options;        // the fields of the request, and over them what was set by name
  staghorn_vectors layout{};
  HostVectors host{};
  VectorSigns signs{};                    // of the host's vectors
  MemorySpace space = MemorySpace::host;  // of the library's own fields

  // Vectors of the host go to the GPU as they lie if the residuals are recomputed there. Adds what ranks must ask
  // alike. Local.
  void read(Asked& asked, const staghorn_request* request, const staghorn_vectors* vectors, const HeldGauge& held,
            OptionsOf whose = OptionsOf::call);
  // A full system that stops on its parity system.
  bool stops_on_parity() const { return options.request.stop == StopOn::parity; }
  System system() const { return options.request.system; }
  std::optional<Parity> sites() const;   // of the system
  std::optional<Parity> others() const;  // which D x of a solution lies on
  // Where all that a call is given lies: so many fields of b, x and dx.
  struct Memory {
    const staghorn_request* request;
    const staghorn_vectors* vectors;
    int n_b;
    const void* const* b;
    int n_x;
    void* const* x;
    int n_dx;
    void* const* dx;
    FieldBytes results;
  };
  // Throws Error where the call would write what belongs to another argument; `all`: further ones to begin with. Local.
  void require_own_memory(const HeldGauge& held, const Memory& given, CallMemory all = {}) const;
  VectorSigns of_sources() const;
  VectorSigns of_solutions() const;
};

// The n results of a host, as far apart as its struct is long.
class HostResults {
 public:
  // Throws Error for NULL, and for a size that no version has. Local.
  explicit HostResults(staghorn_result* first);
  void put(int i, staghorn_result result) const;
  FieldBytes bytes(int n) const { return FieldBytes::of_array(first_, std::size_t(n) * first_->struct_size); }

 private:
  staghorn_result* first_;
};

// What the host is told of one right-hand side whose squared norm is `b2`. `stopped` by the progress function. Seconds
// are left open. A solution that the host's vectors of fp32 cannot hold is not certified any more: `rhs` changes.
// Local.
staghorn_result result_of(const SolveArguments& arguments, RhsReport& rhs, double b2, bool stopped);

// Whether the host wants nothing written, on any rank. Collective.
bool is_withheld(const Communicator& all, const staghorn_request& request);

// Writes D x of a solution of the system to the host; x may be changed, dx is room for it. Collective.
void give_hop(HeldGauge& held, const SolveArguments& arguments, VectorField& x, VectorField& dx, void* to);

// Tells the host each warning once for each context. Local.
void log_warnings(HeldContext& context, const SolveReport& report);

}  // namespace staghorn
