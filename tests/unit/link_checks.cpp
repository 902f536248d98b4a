// Links in the layout of the kernels: fp16 takes those that have a stored form, and refuses all others by name.
#include <cstdio>
#include <limits>
#include <memory>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/operators/operator_options.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/communicator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

// What an operator says when it is made; "" where it takes the links.
std::string complaint(const LinkField& links, Precision precision, Reconstruct reconstruct, int cuda_device,
                      bool from_full) {
  const Communicator communicator(MPI_COMM_SELF);
  OperatorOptions options;
  options.tuning = default_tuning();
  options.cuda_device = cuda_device;
  try {
    std::unique_ptr<StaggeredOperator> full;
    if (from_full) full = std::make_unique<StaggeredOperator>(communicator, links, options);
    options.precision = precision;
    options.reconstruct = reconstruct;
    StaggeredOperator(communicator, links, options, full ? full->hop_data() : nullptr);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return error.what();
  }
  return "";
}

// A link of 1.25 times SU(3) is refused with its place, in each form that keeps its size; unit matrices with elements
// one rounding above one are taken; fp32 takes both. from_full: links are converted from those of an fp64 operator.
bool misfits_are_refused(int cuda_device, bool from_full) {
  const Lattice lattice({4, 6, 8, 10}, {1, 1, 1, 1}, 0);
  LinkField links(lattice);
  make_random(links);
  for (auto& link : links[0]) link = identity_matrix<double>();
  links[0][1].e[0][0].re = 1 + 0x1p-52;
  links[0][2].e[1][1].re = -1 - 0x1p-30;
  for (const Reconstruct form : {Reconstruct::none18, Reconstruct::row12, Reconstruct::su3_8})
    if (!CHECK(complaint(links, Precision::fp16, form, cuda_device, from_full) == "")) return false;

  const Coordinates where{3, 2, 7, 9};
  ColorMatrix<double>& link = links[lattice.site_index(where)][2];
  link = identity_matrix<double>();
  link.e[0][0].im = -1.25;
  for (const Reconstruct form : {Reconstruct::none18, Reconstruct::row12}) {
    const std::string text = complaint(links, Precision::fp16, form, cuda_device, from_full);
    if (!CHECK(text.find("U_z at (3, 2, 7, 9): expected |re|, |im| <= 1") != std::string::npos) ||
        !CHECK(text.find("1.25") != std::string::npos))
      return false;
    if (!CHECK(complaint(links, Precision::fp32, form, cuda_device, from_full) == "")) return false;
  }
  link.e[0][0].im = std::numeric_limits<double>::quiet_NaN();
  return CHECK(
      complaint(links, Precision::fp16, Reconstruct::none18, cuda_device, from_full).find("U_z at (3, 2, 7, 9)") !=
      std::string::npos);
}

bool fp16_refuses_links_that_do_not_fit() { return misfits_are_refused(-1, false); }

Verdict fp16_refuses_links_that_do_not_fit_on_a_gpu() {
  if (cuda::device_count() == 0) {
    std::printf("no GPU\n");
    return Verdict::cannot_run;
  }
  const bool packed = misfits_are_refused(0, false), converted = misfits_are_refused(0, true);
  return packed && converted ? Verdict::holds : Verdict::fails;
}

}  // namespace

std::vector<UnitCheck> link_checks() {
  return {UNIT_CHECK(fp16_refuses_links_that_do_not_fit), UNIT_CHECK(fp16_refuses_links_that_do_not_fit_on_a_gpu)};
}

}  // namespace staghorn
