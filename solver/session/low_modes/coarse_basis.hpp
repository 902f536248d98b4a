// A basis of blocks of a gauge's links: vectors near the null space found, to a file and from one, cut into blocks, and
// kept for solves. What front ends call. Collective throughout.
#pragma once

#include <functional>

#include "solver/eigen/eigenpair_file.hpp"
#include "solver/gauge/gauge.hpp"
#include "solver/krylov/cg_progress.hpp"
#include "solver/report/coarse/coarse_report.hpp"

namespace staghorn {

struct FoundCoarse {
  Eigenpairs vectors;  // values are (v, K v)
  CoarseReport report;
};

// Finds vectors (krylov/coarse/near_null_vectors.hpp), cuts them into blocks, makes the coarse matrix, and keeps the
// space for solves of the gauge. The same request gives the same bits on every process grid and number of threads.
// Throws Error where blocks and lattice or ranks do not fit each other, and where memory does not suffice.
FoundCoarse find_coarse(Gauge& gauge, const CoarseRequest& request,
                        const std::function<void(const CgProgress&)>& progress = {}, const bool* interrupted = nullptr);

// Writes the vectors, with what they belong to and the extents of the blocks.
void write_coarse(Gauge& gauge, FoundCoarse& found, const EigenpairOutput& output);

// Keeps the space of the vectors of a file: those of `write_coarse`, or eigenvectors. The coarse matrix is made here
// from these links, so a file of bad vectors costs iterations, and never an answer. Blocks are those of
// options().coarse_block, else those of the file, else chosen. Throws Error where the file belongs to other links.
void load_blocks(Gauge& gauge, const EigenvectorHeader& header);

// The blocks that `load_blocks` takes, and what an estimate of a solve's memory asks of them. Throws Error as
// `load_blocks` does. Local.
Extents block_of(const EigenvectorHeader& header, const SessionOptions& options);
void describe_blocks(SolveShape& shape, const EigenvectorHeader& header);

}  // namespace staghorn
