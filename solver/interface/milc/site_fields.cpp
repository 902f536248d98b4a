#include "solver/interface/milc/site_fields.hpp"

#include <algorithm>
#include <cstdint>

#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/failure.hpp"
#include "solver/interface/milc/requests.hpp"

namespace staghorn::milc {

namespace {

const QudaMILCSiteArg_t& given(const QudaMILCSiteArg_t* arg) {
  check_pointer("arg", arg);
  return *arg;
}

}  // namespace

SiteField::SiteField(int precision, void* site, void* field, std::size_t offset, std::size_t size, int reals)
    : precision_(precision_of("precision", precision)),
      reals_(4 * reals),
      first_(static_cast<char*>(site ? site : field)),
      offset_(site ? offset : 0) {
  const std::size_t real = precision_ == STAGHORN_FP32 ? sizeof(float) : sizeof(double);
  const std::size_t bytes = std::size_t(reals_) * real;
  stride_ = site ? size : bytes;
  check_pointer("site, link, mom", first_);
  if ((reinterpret_cast<std::uintptr_t>(first_) | offset_ | stride_) % real != 0)
    throw Error("arg", "addresses, offsets and a size that are multiples of " + std::to_string(real) + " bytes",
                "others");
  if (stride_ < bytes || offset_ > stride_ - bytes)
    throw Error("arg.size", "at least offset + " + std::to_string(bytes), stride_);
}

SiteField SiteField::links(int precision, const QudaMILCSiteArg_t* arg) {
  return {precision, given(arg).site, given(arg).link, given(arg).link_offset, given(arg).size, 18};
}

SiteField SiteField::momenta(int precision, const QudaMILCSiteArg_t* arg) {
  return {precision, given(arg).site, given(arg).mom, given(arg).mom_offset, given(arg).size, 10};
}

void SiteField::read(std::size_t site, double* reals) const {
  const char* from = first_ + site * stride_ + offset_;
  if (precision_ == STAGHORN_FP32)
    std::copy_n(reinterpret_cast<const float*>(from), reals_, reals);
  else
    std::copy_n(reinterpret_cast<const double*>(from), reals_, reals);
}

void SiteField::write(std::size_t site, const double* reals) const {
  char* to = first_ + site * stride_ + offset_;
  if (precision_ == STAGHORN_FP32)
    std::transform(reals, reals + reals_, reinterpret_cast<float*>(to), [](double real) { return float(real); });
  else
    std::copy_n(reals, reals_, reinterpret_cast<double*>(to));
}

staghorn_links SiteField::layout(bool phase_in) const {
  auto layout = defaults_of<staghorn_links>(STAGHORN_LINKS);  // antiperiodic in t
  layout.order = STAGHORN_EVEN_ODD_X;
  layout.precision = precision_;
  layout.site_stride = std::int64_t(stride_);
  layout.link_offset = std::int64_t(offset_);
  layout.phases = phase_in ? STAGHORN_PHASES_MILC : STAGHORN_PHASES_NONE;
  layout.boundary_in = phase_in;
  return layout;
}

}  // namespace staghorn::milc
