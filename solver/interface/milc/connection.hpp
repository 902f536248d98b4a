// What QUDA's interface keeps between calls: where the ranks are, the lattice, and the links of the last call. The
// interface has no handles, so there is one of this in a process. Collective throughout.
#pragma once

#include <mpi.h>
#include <quda_milc_interface.h>
#include <staghorn.h>

#include <optional>

#include "solver/interface/milc/field_hash.hpp"

namespace staghorn::milc {

class Connection {
 public:
  // MPI_COMM_NULL where this process is alone.
  MPI_Comm communicator() const;
  void set_communicator(const void* handle);

  // Makes the context. Nothing happens if there is one of these sizes already. Throws Failure.
  void open(const QudaInitArgs_t& args);
  void close();

  // The gauge that holds MILC's links, which are read if they are not those of the last call on every rank. `precision`
  // of the numbers: staghorn_precision. Throws Failure before `open`, and where the links are refused.
  staghorn_gauge* gauge(int precision, const void* fat, const void* lng);
  // Of the last call of `gauge`: whether it read links, and how long it took, hashes included.
  bool has_read() const { return has_read_; }
  double links_seconds() const { return links_seconds_; }

  bool is_verbose() const;  // on rank 0

 private:
  struct Links {
    int precision = 0;
    FieldHash fat, lng;
    friend bool operator==(const Links&, const Links&) = default;
  };

  void make_context(const staghorn_geometry& geometry, int device);
  void read_links(const Links& links, bool improved, const void* fat, const void* lng);
  // Whether it is true on any rank, for both.
  void any(int (&both)[2]) const;

  std::optional<MPI_Comm> given_;  // by qudaSetMPICommHandle
  MPI_Comm all_ = MPI_COMM_NULL;   // of the context
  int verbosity_ = QUDA_SUMMARIZE;
  staghorn_geometry geometry_{};
  staghorn_context* context_ = nullptr;
  staghorn_gauge* gauge_ = nullptr;
  std::optional<Links> links_;  // in the gauge
  bool has_read_ = false;
  double links_seconds_ = 0;
};

}  // namespace staghorn::milc
