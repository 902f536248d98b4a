#include "dirac/site_field.hpp"

#include <cstring>
#include <type_traits>

#include "halo/phase.hpp"

namespace staghorn {

namespace {

// MPI counts are ints: count sites, not bytes, so that a face may exceed 2 GiB.
class SiteType {
 public:
  explicit SiteType(std::size_t bytes) {
    check_mpi(MPI_Type_contiguous(int(bytes), MPI_BYTE, &type_), "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~SiteType() { MPI_Type_free(&type_); }
  SiteType(const SiteType&) = delete;
  SiteType& operator=(const SiteType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

}  // namespace

template <class Site>
NeighbourSites<Site>::NeighbourSites(const Communicator& communicator, const SiteField<Site>& field, int mu,
                                     int direction)
    : field_(&field), extent_(field.lattice().local()[mu]), direction_(direction) {
  static_assert(std::is_trivially_copyable_v<Site>);
  const Lattice& lattice = field.lattice();
  for (int nu = 0; nu < mu; ++nu) stride_ *= lattice.local()[nu];
  if (lattice.grid()[mu] == 1) return;

  // My first slice is what the rank behind lacks for +mu, my last slice what the rank ahead lacks for -mu.
  const std::int64_t outer = field.size() / (stride_ * extent_);
  const std::int64_t slice = direction > 0 ? 0 : extent_ - 1;
  std::vector<Site> outgoing(std::size_t(outer * stride_));
  ghosts_.resize(outgoing.size());
  for (std::int64_t o = 0; o < outer; ++o)
    std::memcpy(&outgoing[o * stride_], &field[(o * extent_ + slice) * stride_], std::size_t(stride_) * sizeof(Site));
  const Phase phase("sites of neighbours");
  const SiteType type(sizeof(Site));
  check_mpi(MPI_Sendrecv(outgoing.data(), int(outgoing.size()), type.get(), lattice.neighbour_rank(mu, -direction), mu,
                         ghosts_.data(), int(ghosts_.size()), type.get(), lattice.neighbour_rank(mu, direction), mu,
                         communicator.handle(), MPI_STATUS_IGNORE),
            "MPI_Sendrecv of a face");
}

template <class Site>
SiteField<Site> shifted(const Communicator& communicator, const SiteField<Site>& field, int mu, int direction) {
  const NeighbourSites<Site> neighbour(communicator, field, mu, direction);
  SiteField<Site> result(field.lattice());
#pragma omp parallel for
  for (std::int64_t site = 0; site < field.size(); ++site) result[site] = neighbour[site];
  return result;
}

#define STAGHORN_INSTANTIATE(Site)     \
  template class NeighbourSites<Site>; \
  template SiteField<Site> shifted(const Communicator&, const SiteField<Site>&, int, int);
STAGHORN_INSTANTIATE(Links)
STAGHORN_INSTANTIATE(ColorVector<double>)
STAGHORN_INSTANTIATE(ColorMatrix<double>)
#undef STAGHORN_INSTANTIATE

}  // namespace staghorn
