// Links of one rank on a GPU, in a box with rims, and their ways: from and to plain fields of the host, and between
// ranks. For cuda_improved_links.cu and smoothing/cuda_gradient_flow.cu.
#pragma once

#include <algorithm>
#include <vector>

#include "dirac/fields/cuda_words.cuh"
#include "dirac/fields/site_field.hpp"
#include "dirac/fields/step.hpp"
#include "halo/buffer.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn::cuda {

namespace {

using Matrix = ColorMatrix<double>;

constexpr int threads = 128;
unsigned blocks_for(std::int64_t items) { return unsigned((items + threads - 1) / threads); }

// This rank's sites and `rim` more on either side of each direction that is cut. Sites of the box are in lexicographic
// order. A direction that is not cut is periodic.
struct Box {
  unsigned local[4], rim[4], extents[4], strides[4], sites, local_sites;

  // The place in the box of a local site.
  __device__ __forceinline__ unsigned place(unsigned site) const {
    unsigned place = 0;
#pragma unroll
    for (int mu = 0; mu < 4; ++mu) {
      place += (site % local[mu] + rim[mu]) * strides[mu];
      site /= local[mu];
    }
    return place;
  }

  // The next site, ahead or behind. At the end of a rim this goes round: what is computed there is never used.
  __device__ __forceinline__ int step(int place, int mu, bool forward) const {
    const int extent = int(extents[mu]), x = int(unsigned(place) / strides[mu] % extents[mu]);
    return stepped(place, int(strides[mu]), extent, forward, wraps(x, extent, forward));
  }
};

Box box_of(const Lattice& lattice, int depth) {
  Box box;
  box.sites = 1;
  for (int mu = 0; mu < 4; ++mu) {
    box.local[mu] = unsigned(lattice.local()[mu]);
    box.rim[mu] = lattice.grid()[mu] > 1 ? unsigned(depth) : 0;
    box.extents[mu] = box.local[mu] + 2 * box.rim[mu];
    box.strides[mu] = box.sites;
    box.sites *= box.extents[mu];
  }
  box.local_sites = unsigned(lattice.local_volume());
  return box;
}

// A matrix for each of `sites` sites, in words of 16 bytes, [word][site].
struct MatrixView {
  double* data;
  unsigned sites;

  __device__ __forceinline__ Matrix operator[](int site) const {
    double reals[18];
    load_object<18, Caching::plain>(data, sites, unsigned(site), reals);
    Matrix m;
#pragma unroll
    for (int k = 0; k < 9; ++k) m.e[k / 3][k % 3] = {reals[2 * k], reals[2 * k + 1]};
    return m;
  }
  __device__ __forceinline__ void store(int site, const Matrix& m) const {
    double reals[18];
#pragma unroll
    for (int k = 0; k < 9; ++k) {
      reals[2 * k] = m.e[k / 3][k % 3].re;
      reals[2 * k + 1] = m.e[k / 3][k % 3].im;
    }
    store_object(data, sites, unsigned(site), reals);
  }
};

// Several fields of matrices: the four directions of links, or the sums of staples of three directions.
struct MatrixViews {
  double* data;
  unsigned sites;
  __device__ __forceinline__ MatrixView operator[](int which) const {
    return {data + std::size_t(which) * 18 * sites, sites};
  }
};

struct LinkBox {
  Box box;
  MatrixViews links;
};

// `count` sites from `first` on, between the host's order and this one.
__global__ void __launch_bounds__(threads)
    scatter_kernel(const __grid_constant__ LinkBox to, const Matrix* from, unsigned first, unsigned count) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  if (i < count) to.links[mu].store(int(to.box.place(first + i)), from[4 * std::size_t(i) + unsigned(mu)]);
}
__global__ void __launch_bounds__(threads) gather_kernel(MatrixViews from, Matrix* to, unsigned first, unsigned count) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  if (i < count) to[4 * std::size_t(i) + unsigned(mu)] = from[mu][int(first + i)];
}

// The slices x_nu = first, first + 1, ... of the box, rims of other directions included: from it or into it.
__global__ void __launch_bounds__(threads) slices_kernel(const __grid_constant__ LinkBox u, int nu, unsigned first,
                                                         Matrix* slices, unsigned items, bool into) {
  const unsigned i = blockIdx.x * threads + threadIdx.x;
  const int mu = int(blockIdx.y);
  if (i >= items) return;
  const unsigned stride = u.box.strides[nu], slice_sites = u.box.sites / u.box.extents[nu];
  const unsigned depth = i / slice_sites, k = i % slice_sites;
  const int x = int((k / stride * u.box.extents[nu] + first + depth) * stride + k % stride);
  Matrix& item = slices[4 * std::size_t(i) + unsigned(mu)];
  if (into)
    u.links[mu].store(x, item);
  else
    item = u.links[mu][x];
}

// Fields of matrices in device memory.
class Matrices {
 public:
  Matrices(const Communicator& communicator, unsigned sites, int fields) : sites_(sites) {
    communicator.agree([&] { buffer_ = Buffer(std::size_t(fields) * sites * sizeof(Matrix), MemorySpace::cuda); });
  }
  MatrixViews views() { return {reinterpret_cast<double*>(buffer_.data()), sites_}; }
  MatrixView view(int which) {
    return {reinterpret_cast<double*>(buffer_.data()) + std::size_t(which) * 18 * sites_, sites_};
  }

 private:
  unsigned sites_;
  Buffer buffer_;
};

// Fills the rims, direction by direction: slices carry the rims of the directions before. Collective.
void fill_rims(const Communicator& communicator, const Lattice& lattice, const LinkBox& u) {
  for (int nu = 0; nu < 4; ++nu) {
    const unsigned depth = u.box.rim[nu];
    if (depth == 0) continue;
    const unsigned sites = depth * (u.box.sites / u.box.extents[nu]);
    std::vector<Matrix> outgoing(4 * std::size_t(sites));
    Buffer slices(outgoing.size() * sizeof(Matrix), MemorySpace::cuda);
    const auto move = [&](unsigned first, bool into) {
      slices_kernel<<<dim3(blocks_for(sites), 4), threads>>>(u, nu, first, reinterpret_cast<Matrix*>(slices.data()),
                                                             sites, into);
      STAGHORN_CUDA_CHECK_LAUNCH(slices_kernel);
    };
    for (const int direction : {+1, -1}) {
      move(direction > 0 ? depth : u.box.local[nu], false);
      copy_to_host(outgoing.data(), slices.data(), slices.bytes());
      const std::vector<Matrix> incoming = exchange_face(communicator, lattice, nu, direction, outgoing);
      copy_to_device(slices.data(), incoming.data(), slices.bytes());
      move(direction > 0 ? u.box.local[nu] + depth : 0, true);
      synchronize();
    }
  }
}

// Links in a box, in memory of their own.
struct BoxOfLinks {
  BoxOfLinks(const Communicator& communicator, const Lattice& lattice, int depth)
      : box(box_of(lattice, depth)), matrices(communicator, box.sites, 4) {}
  LinkBox view() { return {box, matrices.views()}; }

  Box box;
  Matrices matrices;
};

void send(PinnedPieces& pieces, const LinkField& links, const LinkBox& to) {
  pieces.send<Links>(
      links.size(), 1,
      [&](Links* piece, std::int64_t first, std::int64_t count) {
        std::copy(links.data() + first, links.data() + first + count, piece);
      },
      [&](const Links* piece, std::int64_t first, std::int64_t count) {
        scatter_kernel<<<dim3(blocks_for(count), 4), threads>>>(to, piece->data(), unsigned(first), unsigned(count));
        STAGHORN_CUDA_CHECK_LAUNCH(scatter_kernel);
      });
}

void receive(PinnedPieces& pieces, Matrices& from, LinkField& links) {
  pieces.receive<Links>(
      links.size(), 1,
      [&](Links* piece, std::int64_t first, std::int64_t count) {
        gather_kernel<<<dim3(blocks_for(count), 4), threads>>>(from.views(), piece->data(), unsigned(first),
                                                               unsigned(count));
        STAGHORN_CUDA_CHECK_LAUNCH(gather_kernel);
      },
      [&](const Links* piece, std::int64_t first, std::int64_t count) {
        std::copy(piece, piece + count, links.data() + first);
      });
}

}  // namespace

}  // namespace staghorn::cuda
