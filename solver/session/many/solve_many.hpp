// Many sources, a few at a time: made when their turn comes, and handed on when they are certified.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lattice_io/files/output_file.hpp"
#include "lattice_io/vectors/vector_stream.hpp"
#include "solver/request/source_list.hpp"
#include "solver/session/groups/job_groups.hpp"
#include "solver/session/groups/rank_groups.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// Where solutions go: solution `number` of mass after mass, source after source, on the host. Each comes once, in any
// order. Collective.
using TakeSolution = std::function<void(std::size_t number, const VectorField& x)>;

// What keeps solutions. Collective.
class SolutionSink {
 public:
  virtual ~SolutionSink() = default;
  virtual void take(std::size_t number, const VectorField& x) = 0;
  // For jobs that go on where they ended: whether it can, from nothing or from what is there already (VectorWriter).
  virtual bool can_go_on() const { return false; }
  virtual void begin_anew() {}
  virtual void read_back(std::size_t, VectorField&) {}
  virtual void accept(std::size_t, const VectorField&) {}
  virtual void flush() {}
};

// Throws Error naming what goes with a single batch only. Local.
void check_many(const SolveRequest& request);

// Solves for all sources of the list, `many.batch` at a time, and returns the complete report. By plain CG and in mixed
// precision sources take turns in the batch, and the bits of a solution depend neither on the other sources nor on the
// batch. Other solvers, and several masses, take one batch after the other. `sink` may be nullptr. Calls
// check_many. With `checkpoint` the sink must
// be able to go on. With `groups` each group of the job solves a part, and all get the one report; the session is that
// of the group, and `sink` takes what the group solves. Collective, then over the job.
SolveReport solve_many(Session& session, const SolveRequest& request, const ManySources& many,
                       const SourceList& sources, SolutionSink* sink,
                       const std::function<void(const CgProgress&)>& progress = {}, const JobGroups* groups = nullptr);

// A solution file that grows: it has its name once it is complete.
class GrowingSolutions final : public SolutionSink {
 public:
  // For `n_solutions` vectors in fp64. With `keep`, what is there when the job ends stays as PATH.unfinished.
  // `groups`: of a job in groups, each of which takes solutions of its own; making and finishing the file are
  // collective over the job. All references must outlive this. Throws Error as OutputFile does.
  GrowingSolutions(const Communicator& communicator, const Lattice& lattice, const std::string& path, bool force,
                   std::size_t n_solutions, WhenUnfinished unfinished, const RankGroups* groups = nullptr);
  void take(std::size_t number, const VectorField& x) override { writer_.write(std::int64_t(number), x); }
  bool can_go_on() const override { return keeps_; }
  void begin_anew() override;  // of groups none may: others may have solutions in the file
  void empty();                // what an earlier job left may be longer than the file that comes. Of the job
  void read_back(std::size_t number, VectorField& x) override { writer_.read_back(std::int64_t(number), x); }
  void accept(std::size_t number, const VectorField& x) override { writer_.accept(std::int64_t(number), x); }
  void flush() override;
  void finish(const SolveReport& report, FilesTogether& with, int compress = 0);  // once all are there

 private:
  const Communicator& job_;
  bool keeps_, in_groups_;
  std::unique_ptr<OutputFile> output_;  // until the end
  VectorWriter writer_;
};

}  // namespace staghorn
