// What QUDA's interface keeps between calls: where the ranks are, the lattice, and the links of the last call. The
// interface has no handles, so there is one of this in a process. Collective throughout.
#pragma once

#include <mpi.h>
#include <quda_milc_interface.h>
#include <staghorn.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "solver/interface/layouts/field_bytes.hpp"
#include "solver/interface/milc/link_hash.hpp"

namespace staghorn::milc {

class Connection {
 public:
  // MPI_COMM_NULL where this process is alone.
  MPI_Comm communicator() const;
  // `handle` points to an MPI_Comm. NULL: this process is alone, as in a build of the host without MPI.
  void set_communicator(const void* handle);

  // Makes the context. Nothing happens if there is one of these sizes already. Throws Error.
  void open(const QudaInitArgs_t& args);
  void close();

  // Throws Error before `open`. Local.
  staghorn_context* context() const;
  std::array<int, 4> extents() const;        // of the lattice
  std::array<int, 4> local_extents() const;  // of this rank; even
  std::array<int, 4> first_site() const;     // its coordinates
  std::size_t local_sites() const;
  // The smallest of all ranks.
  std::int64_t smallest(std::int64_t number) const;

  // The gauge that holds MILC's links, which are hashed, and read if they are not those of the last call on every rank.
  // `precision` of the numbers: staghorn_precision. Throws Error before `open`, and where the links are refused.
  staghorn_gauge* gauge(int precision, const void* fat, const void* lng);
  // The same, with the links of the last call of `gauge` or `solve`.
  staghorn_gauge* gauge() const { return gauge_; }

  // Calls `solve`, which returns the status of a solve of staghorn.h, with the gauge that holds MILC's links and the
  // request. The links are hashed first; or, where all ranks compute on GPUs, beside the iterations of a solve with the
  // links of the last call. If these turn out to be others on any rank, that solve is stopped, nothing of it is
  // written, the links are read, and `solve` is called once more. Returns the status of the last solve. Throws Error.
  using Solve = std::function<int(staghorn_gauge*, const staghorn_request&)>;
  int solve(int precision, const void* fat, const void* lng, staghorn_request request, const Solve& solve);

  // Which bytes the sites of a system occupy in MILC's vector at `at`. Throws Error before `open`. Local.
  FieldBytes bytes_of(const staghorn_vectors& vectors, int sites, const void* at) const;

  // What the last call of `gauge` or `solve` did about links.
  struct LinkNews {
    bool read = false, beside = false;  // whether links were read, and hashed beside a solve
    double seconds = 0;                 // for hashing; for reading, too, where links were read
    double waited = 0;                  // beside: seconds for which the end of the solve waited for the hash
    double lost = 0;                    // beside, and read: seconds of the solve with the links of before
    std::int64_t iterations_lost = 0;   // of that
  };
  const LinkNews& link_news() const { return news_; }

  bool is_verbose() const;  // on rank 0

  // Throws Error in a child that was forked since the first call. Local.
  void require_own_process() const;

 private:
  void make_context(const staghorn_geometry& geometry, int device);
  bool wants_hash_beside() const;  // of this rank
  GivenLinks given_links(int precision, const void* fat, const void* lng) const;
  void read_links(const GivenLinks& links, const LinkHash& hash);
  bool any(bool value) const;  // whether it is true on any rank

  const pid_t process_ = getpid();
  std::optional<MPI_Comm> given_;  // by qudaSetMPICommHandle
  MPI_Comm all_ = MPI_COMM_NULL;   // of the context
  int verbosity_ = QUDA_SUMMARIZE;
  staghorn_geometry geometry_{};
  staghorn_context* context_ = nullptr;
  staghorn_gauge* gauge_ = nullptr;
  std::optional<LinkHash> links_;  // in the gauge
  bool beside_ = false;            // links are hashed beside solves; the same on all ranks
  LinkNews news_;
};

}  // namespace staghorn::milc
