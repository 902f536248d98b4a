// staghorn_coarse_find: a basis of blocks of a gauge's links, kept for its solves and written.
#include <staghorn.h>

#include <algorithm>
#include <optional>

#include "lattice_io/files/output_file.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/solves/host_calls.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/session/low_modes/coarse_basis.hpp"

namespace staghorn {

namespace {

struct CoarseCall {
  int vectors;
  const std::int32_t* block;
  std::int64_t iterations;
  std::uint64_t seed;
  const char* path;
  int storage, replace;
};

void find(HeldGauge& held, const CoarseCall& call) {
  CoarseRequest request;
  std::optional<EigenpairOutput> output;
  agree_on(held, "staghorn_coarse_find", [&](Asked& asked) {
    asked.add("vectors", call.vectors);
    asked.add("iterations", call.iterations);
    asked.add("seed", call.seed);
    asked.add("block", call.block ? "given" : nullptr);
    asked.add("path", call.path);
    request.vectors = call.vectors;
    request.iterations = long(call.iterations);
    request.seed = call.seed;
    if (call.block) {
      CallMemory memory;
      memory.reads("block", FieldBytes::of_array(call.block, 4 * sizeof(std::int32_t)));
      memory.require_own();
      request.block.emplace();
      std::copy_n(call.block, 4, request.block->begin());
      for (int mu = 0; mu < 4; ++mu) asked.add("block", (*request.block)[mu]);
    }
    check_coarse_request(request);
    if (!call.path) return;
    asked.add("storage", call.storage);
    asked.add("replace", call.replace);
    check_choice("storage", call.storage, STAGHORN_FP64, STAGHORN_FP16);
    check_choice("replace", call.replace, 0, 1);
    output = EigenpairOutput{call.path, EigenvectorFormat::hdf5, Precision(call.storage), call.replace != 0};
    require_writable(*output, held.lattice());
  });
  ClaimedNames names(held.ranks());
  if (output) names.claim(output->path, output->force);
  held.gauge->set_numbers(held.asked, {});  // the last solve may have left others behind
  FoundCoarse found = find_coarse(*held.gauge, request);
  if (output) write_coarse(*held.gauge, found, *output);
  held.context->report = [report = std::move(found.report)] { return to_json(report); };
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_coarse_find(staghorn_gauge* gauge, int vectors, const int32_t* block, int64_t iterations, uint64_t seed,
                         const char* path, int storage, int replace) {
  const CoarseCall call{vectors, block, iterations, seed, path, storage, replace};
  return collectively(gauge, [&](HeldGauge& held) { find(held, call); });
}
