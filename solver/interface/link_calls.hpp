// Links of a call of staghorn.h: read, checked, and taken into a gauge, measured or smeared. Collective but where it
// says so.
#pragma once

#include <staghorn.h>

#include "solver/interface/handles.hpp"
#include "solver/interface/layouts/link_conversion.hpp"

namespace staghorn {

// The links of one argument, thin, fat or long ones. Pointers are the host's; `name` is that of the argument.
struct LinksArgument {
  const char* name;
  const staghorn_links* given;
  const void* const* u;
};

// Links in the host's memory of which a call keeps nothing.
struct PassingLinks {
  HostLinks layout{};
  LinkBuffers buffers{};
};

// Reads and checks such an argument, within the first message of a call. Throws Error. Local.
PassingLinks read_passing(Asked& asked, const LinksArgument& links, const Context& context, CallMemory& memory);

// Takes thin links into the gauge, and makes of them what its action says; or fat links and `naik`, the Naik links
// beside them. Naik links that are zero everywhere: naive quarks with the fat ones. Returns false, and does nothing,
// where the host vouches that they are those of the last update.
bool load_links(HeldGauge& held, const LinksArgument& links, const LinksArgument* naik = nullptr);

// Traces of n closed paths of links that stay where they are, as staghorn_loop_traces.
void trace_loops(const HeldContext& held, const LinksArgument& links, int n, const std::int32_t* const* paths,
                 const std::int32_t* lengths, double* traces);

// Weighted sums of paths of links that stay where they are, as staghorn_smear_links.
void smear_links(const HeldContext& held, const LinksArgument& links, const double* weights,
                 const staghorn_links* smeared, void* const* fat, void* const* naik, void* const* unitary);

// Sets what thin links become in this gauge.
void set_action(HeldGauge& held, const staghorn_action* action);

}  // namespace staghorn
