// Fat, long and unitarized links for MILC, all by staghorn_smear_links.
//
// MILC's links carry staggered phases and signs of the boundary, and its coefficients have the signs that paths need
// with them. Sums and products of the numbers as they are then carry the same phases, so none is taken out.
#include <quda_milc_interface.h>

#include "solver/interface/argument_checks.hpp"
#include "solver/interface/milc/milc_call.hpp"
#include "solver/interface/milc/requests.hpp"

namespace staghorn::milc {

namespace {

// Four links for each site, in fields of their own.
void smear(int precision, const double* coefficients, const void* links, void* fat, void* lng, void* unitary) {
  auto layout = defaults_of<staghorn_links>(STAGHORN_LINKS);
  layout.order = STAGHORN_EVEN_ODD_X;
  layout.precision = precision_of("precision", precision);
  check_pointer("links", links);
  const void* const from[4] = {links, nullptr, nullptr, nullptr};
  void* const to[3][4] = {{fat}, {lng}, {unitary}};
  require(staghorn_smear_links(host().context(), &layout, from, coefficients, &layout, fat ? to[0] : nullptr,
                               lng ? to[1] : nullptr, unitary ? to[2] : nullptr));
}

}  // namespace

}  // namespace staghorn::milc

using namespace staghorn;
using namespace staghorn::milc;

void qudaHisqParamsInit(QudaHisqParams_t) {}

void qudaLoadKSLink(int precision, QudaFatLinkArgs_t, const double coefficients[6], void* links, void* fat, void* lng) {
  run_timed("qudaLoadKSLink", [&] {
    check_pointer("fat", fat);
    smear(precision, coefficients, links, fat, lng, nullptr);
  });
}

void qudaLoadUnitarizedLink(int precision, QudaFatLinkArgs_t, const double coefficients[6], void* links, void* fat,
                            void* unitary) {
  run_timed("qudaLoadUnitarizedLink", [&] {
    check_pointer("unitarized", unitary);
    smear(precision, coefficients, links, fat, nullptr, unitary);
  });
}
