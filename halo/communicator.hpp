// A group of MPI ranks and what they do together. RAII over a duplicated MPI communicator. Or one process alone, which
// calls no function of MPI.
//
// Every member function is collective over the group unless it says "local". MPI must be initialised before the
// first Communicator over ranks is made (see MpiSession) and finalised after the last is gone.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halo/watch/check_mpi.hpp"

namespace staghorn {

class Alarm;

// A build without MPI has a header of our own in its place (halo/one_process), and one process.
#ifndef STAGHORN_WITHOUT_MPI
inline constexpr bool built_with_mpi = true;
#elif !defined(MPI_VERSION)
inline constexpr bool built_with_mpi = false;
#else
#error "This Staghorn was built without MPI: leave the mpi.h of an MPI out, or take a Staghorn that was built with it."
#endif

// Initialises MPI unless the host program did, and finalises it only if it was initialised here.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  bool owner_;
};

// What the ranks of a host share, where a job works in groups side by side (rank_groups.hpp): counted in the whole job.
struct HostSharers {
  int rank = 0;       // the number of this rank among those of its host
  int on_host = 1;    // ranks of this host
  int on_device = 1;  // of these, the ranks that use the GPU of this rank; on a CPU, the ranks on CPUs
};

class Communicator {
 public:
  Communicator() = default;  // this process alone
  explicit Communicator(MPI_Comm parent);
  // The same with an Alarm, which groups split from it share: a rank that waits in a function of this class or in
  // Alarm::guard hears of a rank that fails. One rank has no Alarm. Throws Error on all ranks if it fails on one.
  static Communicator with_alarm(MPI_Comm parent);
  ~Communicator();
  Communicator(Communicator&& other) noexcept;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  Communicator& operator=(Communicator&&) = delete;

  MPI_Comm handle() const { return handle_; }                 // local; MPI_COMM_NULL of a process alone
  bool is_alone() const { return handle_ == MPI_COMM_NULL; }  // local
  int rank() const { return rank_; }                          // local
  int size() const { return size_; }                          // local
  bool is_root() const { return rank_ == 0; }                 // local
  Alarm* alarm() const { return alarm_.get(); }               // local; nullptr: ranks block inside MPI

  // A group for each `color`: the ranks that give it, in the order of `key` (ties: in the order of ranks here).
  Communicator split(int color, int key) const;
  // The group of the ranks that give the same number, kept for later calls. The first call makes it; later ones, with
  // the same number, are local.
  const Communicator& alike(int number) const;
  // The host of each rank. Hosts are numbered from 0 in the order of their first ranks. STAGHORN_RANKS_PER_HOST=n
  // pretends that each n consecutive ranks share a host.
  std::vector<int> hosts() const;
  // This rank's number among the ranks of the group on its host, or of the job where its sharers are known.
  int rank_on_host() const;
  // Known of a group that works beside others, and of groups that are split from it; nullptr: of all others. Local.
  const HostSharers* sharers() const { return sharers_.get(); }
  void set_sharers(const HostSharers& sharers) { sharers_ = std::make_shared<const HostSharers>(sharers); }
  // Goes on over another communicator of MPI, in place. The one before is given up, with what may be on its way there.
  // After a failure that `alarm` has settled.
  void renew();
  // Before a function of MPI that blocks: with an Alarm it returns when all ranks are there, or throws RankFailed.
  void enter() const;
  // A message to one rank and one from another, of `count` items of `type`.
  void exchange(int to, const void* sent, int from, void* received, int count, MPI_Datatype type, int tag) const;
  void barrier() const;
  // A barrier for ranks that may wait long: they sleep between looks and leave their cores to others.
  void patient_barrier() const;
  // The element-wise sum over ranks, on every rank, in place. For integers it does not depend on the order.
  void sum(std::span<std::int64_t> values) const;
  std::int64_t sum(std::int64_t value) const;
  // The same sum for doubles. MPI chooses the order, so use it only if the last bits do not matter.
  void sum(std::span<double> values) const;
  // Bitwise exclusive or over ranks, for checksums that are combined in that way.
  std::uint32_t exclusive_or(std::uint32_t value) const;
  double max(double value) const;  // NaN on any rank gives NaN everywhere
  // The element-wise maximum over ranks of numbers that are no NaN, on every rank, in place.
  void max(std::span<double> values) const;
  bool any(bool value) const;
  // The value of rank `root` on every rank.
  void broadcast(void* data, std::size_t bytes, int root = 0) const;
  std::string broadcast(const std::string& text, int root = 0) const;

  // True once every rank has called this. False if some rank has not called it after `seconds`. After that this group
  // cannot be used any more.
  bool all_arrive(double seconds) const;

  // Runs `work` on every rank. If it throws on any rank, every rank throws Error with the message of the lowest rank
  // that failed, and of its kind; the message names the host of that rank if rank 0 is on another and did not fail. The
  // message of a LocalError begins with the number of that rank. Memory that ran out is of kind `memory`, what is no
  // Error is `internal`. `work` must not be collective, unless it fails on all ranks alike.
  void agree(const std::function<void()>& work) const;

  // Objects that belong to a process alone, by key; communicator_attribute.hpp uses it. Local.
  std::shared_ptr<void>& kept_alone(const void* key) const { return (*kept_alone_)[key]; }

 private:
  void duplicate(MPI_Comm parent);  // takes no memory of its own
  template <class T, class Op>
  void combine(std::span<T> values, MPI_Datatype type, MPI_Op op, const Op& same) const;

  std::shared_ptr<const HostSharers> sharers_;
  std::shared_ptr<Alarm> alarm_;
  mutable std::unique_ptr<Communicator> alike_;
  int epoch_ = 0;  // of the alarm, when `handle_` was new
  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::shared_ptr<std::map<const void*, std::shared_ptr<void>>> kept_alone_ =
      std::make_shared<std::map<const void*, std::shared_ptr<void>>>();
};

}  // namespace staghorn
