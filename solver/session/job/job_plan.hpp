// A job of a solver as data: which masses and sources go through it together, one batch after the other. Local.
//
// These batches are cut by what a solver takes at once. Those of --batch, whose size may come from memory, are of
// solver/session/many/ and Workbench::prepare_batch.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "solver/request/solve_request.hpp"

namespace staghorn {

// Groups of like size: sources number begin(k) to begin(k + 1) - 1 are those of group k.
struct SourceGroups {
  SourceGroups(std::size_t all, std::size_t most) : all(all), count((all + most - 1) / most) {}
  std::size_t begin(std::size_t k) const { return k * all / count; }
  std::size_t size(std::size_t k) const { return begin(k + 1) - begin(k); }
  // The place of right-hand side i of group k in the whole. Both lists are mass by mass, source by source.
  std::size_t place(std::size_t k, std::size_t i) const { return i / size(k) * all + begin(k) + i % size(k); }

  std::size_t all, count;
};

struct Batch {
  SolveRequest request;             // of its masses alone
  std::optional<double> epsilon;    // of the links; absent: as they are
  std::vector<std::size_t> places;  // of its right-hand sides in the job: mass by mass, source by source
  std::size_t first_source, n_sources;
};

struct JobPlan {
  SourceGroups groups;
  std::vector<Batch> batches;
};

// The batches of a job: masses of one epsilon together, those of the links as they are, with the epsilon `own`, first;
// and of each epsilon at most `most_at_once` sources together.
JobPlan plan_job(const SolveRequest& request, std::size_t n_sources, std::size_t most_at_once, double own);

// How many sources go at once: where eigenvectors are taken out of their residuals, fewer.
std::size_t most_at_once(const SolveRequest& request, bool deflates);

}  // namespace staghorn
