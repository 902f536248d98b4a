// What the solves of one gauge work with: operators and vectors for one number of right-hand sides, the fields of the
// certificate, and the memory that they hold. Made when a solve needs it, and kept for the next. Collective throughout
// but where it says Local.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/gauge/certificate_fields.hpp"
#include "solver/gauge/gauge_links.hpp"
#include "solver/gauge/kept_blocks.hpp"
#include "solver/gauge/kept_eigenpairs.hpp"
#include "solver/krylov/even_odd.hpp"
#include "solver/machine/memory_check.hpp"

namespace staghorn {

class Workbench {
 public:
  // All must outlive the object. Local.
  Workbench(const GaugeLinks& links, const KeptEigenpairs& eigenpairs, const KeptBlocks& blocks)
      : links_(links), eigenpairs_(eigenpairs), blocks_(blocks) {}

  // Makes what a solve needs and what is not there yet: operators, vectors, fields of the certificate. Throws Error
  // where that does not fit into memory. Times of hops count from here. `certificate`: where it runs.
  void prepare(int n_rhs, System system, MemorySpace certificate);
  // The same for sources that take turns (session/many/refilled_batch.hpp). `columns` 0: 16, or as many as memory
  // holds, but no more than there are sources.
  struct BatchParts {
    StaggeredOperator& precise;
    StaggeredOperator* sloppy;  // nullptr without mixed precision
    CertificateFields& certificate;
    OperatorLinks links, plain;  // that kernels are packed from, and of the certificate
  };
  BatchParts prepare_batch(int columns, std::size_t n_sources, System system);

  // After `prepare`. The sloppy operator iterates in lower precision; nullptr without mixed precision. Local.
  StaggeredOperator& precise() const { return *precise_; }
  StaggeredOperator* sloppy() const { return sloppy_.get(); }
  EvenOddPass& pass() const { return *pass_; }
  // Of all hops since `prepare`, with those of operators that `count` was given. Local.
  struct Times {
    HopTimes hops;
    CommunicationTimes communication;
    Times& operator+=(StaggeredOperator& d);
  };
  Times times() const;
  void count(StaggeredOperator& made_beside) { beside_ += made_beside; }
  CertificateFields& certificate() { return certificate_; }
  const CertificateFields& certificate() const { return certificate_; }
  // The links as an operator packed them, to be shared; nothing before the first solve. Local.
  std::shared_ptr<HopData> packed_links() const { return precise_ ? precise_->hop_data() : nullptr; }

  void pack_links();  // again, into the operators, in place; those that are there
  // Local.
  void forget_operators();
  void forget_vectors() { pass_.reset(); }
  void forget_copies() { certificate_.drop_links(); }  // of links on a GPU
  void forget_all();

  // Where the certificate of a solve of these fields runs: as the options say. Where they leave it open it goes to the
  // GPU that solves, if there is room for it beside the solve; else fields of the host are certified there.
  MemorySpace place_certificate(std::span<const VectorField> sources, std::span<const VectorField> solutions,
                                System system);
  // The same for fields that are made here, which may lie where the kernels work. Local.
  MemorySpace certificate_place() const;
  // Whether certificates run on a GPU: as the options say, or as the last one did. Local.
  bool certifies_on_gpu() const;
  // What the plain operator reads where its fields lie in `space`. Copies in the other place stay until links change.
  // Throws Error where there is no memory for them. Local.
  OperatorLinks plain_links(MemorySpace space);

  // Local. This rank's memory.
  SolveShape shape(int n_rhs, System system, MemorySpace certificate) const;
  double certificate_bytes(MemorySpace space) const;  // held there beside the host's links
  // Held already of what the estimate of several masses counts; `field_bytes`: the caller's fields.
  MemoryBudget held_of(const MemoryEstimate& shifted, double field_bytes) const;

 private:
  // Throws Error where this does not fit; `of_operators`: held by them already.
  void require_room(const SolveShape& wanted, double of_operators) const;
  // Operators for so many right-hand sides. The vectors of those before are gone.
  void make_operators(const SolveShape& wanted);
  void make_pass();
  void reset_times();
  // What kernels are packed from where a certificate reads its links in `space`: those of naive quarks travel once.
  OperatorLinks links_to_pack(MemorySpace space);
  double packed_bytes() const;    // of the operators' links
  double operator_bytes() const;  // with halos and vectors of the solves
  // Held already of what the estimate of a solve counts; `of_operators`: their part.
  MemoryBudget held_memory(const MemoryEstimate& estimate, double of_operators) const;
  MemoryBudget held_by(double of_operators) const;  // by them and by eigenvectors alone

  const GaugeLinks& links_;
  const KeptEigenpairs& eigenpairs_;
  const KeptBlocks& blocks_;
  std::unique_ptr<StaggeredOperator> sloppy_, precise_;  // made by the first solve, and again when n_rhs changes
  std::unique_ptr<EvenOddPass> pass_;                    // the solver and its vectors, made with them
  CertificateFields certificate_;
  Times beside_;  // of other operators
};

}  // namespace staghorn
