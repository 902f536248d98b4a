#include "dirac/fields/site_field.hpp"

#include <type_traits>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/activity.hpp"

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

Slice::Slice(const Lattice& lattice, int mu, int x_mu) : extent_(lattice.local()[mu]), x_mu_(x_mu) {
  for (int nu = 0; nu < mu; ++nu) stride_ *= lattice.local()[nu];
  size_ = lattice.local_volume() / extent_;
}

Slice outgoing_slice(const Lattice& lattice, int mu, int direction, int depth) {
  return {lattice, mu, direction > 0 ? depth : lattice.local()[mu] - 1 - depth};
}

template <class Site>
std::vector<Site> exchange_face(const Communicator& communicator, const Lattice& lattice, int mu, int direction,
                                const std::vector<Site>& outgoing) {
  static_assert(std::is_trivially_copyable_v<Site>);
  if (lattice.neighbour_rank(mu, direction) == lattice.rank()) return outgoing;
  std::vector<Site> incoming(outgoing.size());
  const Activity activity("sites of neighbours");
  const SiteType type(sizeof(Site));
  communicator.exchange(lattice.neighbour_rank(mu, -direction), outgoing.data(), lattice.neighbour_rank(mu, direction),
                        incoming.data(), int(outgoing.size()), type.get(), mu);
  return incoming;
}

namespace {

// The sites of a slice, on the host.
template <class Site>
std::vector<Site> sites_of(const SiteField<Site>& field, int mu, int direction, int depth) {
  const Slice slice = outgoing_slice(field.lattice(), mu, direction, depth);
  std::vector<Site> sites(std::size_t(slice.size()));
  if (field.space() == MemorySpace::cuda) {
    std::size_t row = 1;
    for (int nu = 0; nu < mu; ++nu) row *= std::size_t(field.lattice().local()[nu]);
    const std::size_t extent = std::size_t(field.lattice().local()[mu]);
    cuda::copy_rows_to_host(sites.data(), field.data() + slice[0], row * sizeof(Site), row * extent * sizeof(Site),
                            sites.size() / row);
  } else {
    for (std::int64_t i = 0; i < slice.size(); ++i) sites[std::size_t(i)] = field[slice[i]];
  }
  return sites;
}

}  // namespace

template <class Site>
NeighbourSites<Site>::NeighbourSites(const Communicator& communicator, const SiteField<Site>& field, int mu,
                                     int direction, int steps)
    : field_(&field), extent_(field.lattice().local()[mu]), direction_(direction), steps_(steps) {
  const Lattice& lattice = field.lattice();
  for (int nu = 0; nu < mu; ++nu) stride_ *= lattice.local()[nu];
  if (lattice.grid()[mu] == 1 && field.space() != MemorySpace::cuda) return;
  for (int depth = 0; depth < steps; ++depth) {
    std::vector<Site> outgoing;
    communicator.agree([&] { outgoing = sites_of(field, mu, direction, depth); });
    ghosts_.push_back(exchange_face(communicator, lattice, mu, direction, outgoing));
  }
}

template <class Site>
SiteField<Site> shifted(const Communicator& communicator, const SiteField<Site>& field, int mu, int direction) {
  const NeighbourSites<Site> neighbour(communicator, field, mu, direction);
  SiteField<Site> result(field.lattice());
#pragma omp parallel for
  for (std::int64_t site = 0; site < field.size(); ++site) result[site] = neighbour[site];
  return result;
}

#define STAGHORN_INSTANTIATE(Site)                                                                                   \
  template class NeighbourSites<Site>;                                                                               \
  template std::vector<Site> exchange_face(const Communicator&, const Lattice&, int, int, const std::vector<Site>&); \
  template SiteField<Site> shifted(const Communicator&, const SiteField<Site>&, int, int);
STAGHORN_INSTANTIATE(Links)
STAGHORN_INSTANTIATE(LinkScalars)
STAGHORN_INSTANTIATE(Complex<double>)
STAGHORN_INSTANTIATE(ColorVector<double>)
STAGHORN_INSTANTIATE(ColorMatrix<double>)
#undef STAGHORN_INSTANTIATE

}  // namespace staghorn
