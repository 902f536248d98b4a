// A session for each group of a job, on links that are read once. Collective over the job.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "solver/session/groups/job_groups.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

// Groups of ranks, the session of this rank's group, and what it tells the others.
struct GroupSession {
  std::unique_ptr<RankGroups> ranks;
  std::unique_ptr<Session> session;
  std::unique_ptr<JobGroups> groups;
};

// Cuts `all` into `count` groups, each of which gets a session as that of Session's first constructor. One group reads
// `gauge_file` and sends the links on. Stored fat and Naik links, and files of eigenvectors and of a coarse basis, are
// read by each group. Throws Error on all ranks where it fails in one group.
GroupSession make_group_session(const Communicator& all, int count, const std::string& gauge_file,
                                const SessionOptions& options, const ExpectedSolve& expected);

// Runs work that is collective over each group. Throws Error on all ranks where it fails in one group, that of the
// first one; EndedWithCheckpoint where one ended so.
void in_each_group(const RankGroups& ranks, const std::function<void()>& work);

// The groups, by the device that `options` give each rank of `all`. Throws Error on every rank alike. Collective.
std::unique_ptr<RankGroups> make_groups(const Communicator& all, int count, const SessionOptions& options);

}  // namespace staghorn
