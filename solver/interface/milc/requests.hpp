// From the numbers of a call to a request of staghorn.h.
#pragma once

#include <quda_milc_interface.h>
#include <staghorn.h>

#include <vector>

namespace staghorn::milc {

// staghorn_precision of numbers of MILC: 1 is fp32, 2 is fp64. Throws Error for others.
int precision_of(const char* name, int number);

// Vectors of MILC. Throws Error.
staghorn_vectors vectors_of(int external_precision);

// STAGHORN_EVEN or STAGHORN_ODD. Throws Error.
int sites_of(const QudaInvertArgs_t& args);

// What a solve is asked, but for its mass, its targets and its guess. Iterations run in fp64 where `quda_precision` is
// 2 and nothing lower is asked, else in fp32 or 16 bits below fp64: fp32 alone would start anew whenever its digits are
// used up. Throws Error.
staghorn_request request_of(int quda_precision, const QudaInvertArgs_t& args);

// Sets what has to be reached by a solve of n right-hand sides or offsets. 0: not asked; all 0: as good as fp64 allows.
// Returns a target for each of them, 0 where none is asked. Throws Error.
std::vector<double> set_targets(staghorn_request& request, int n, const double* residuals,
                                const double* relative_residuals);

}  // namespace staghorn::milc
