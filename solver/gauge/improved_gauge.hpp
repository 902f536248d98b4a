// The second half of the links of improved quarks, beside the fat links: Naik links, their coefficient, and what the
// report says of both. Made from thin links, or read. Private to this folder. Collective throughout.
#pragma once

#include <optional>

#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/gauge/improved_files.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

struct ImprovedGauge {
  LinkField naik;         // without the coefficient
  double naik_scale = 0;  // c_N
  ImprovedSummary summary;
};

// What an operator reads: thin links where `improved` is empty. Refers to both. Local.
OperatorLinks operator_links(const LinkField& near, const std::optional<ImprovedGauge>& improved);

// Makes the links that `options.quarks` asks for from thin ones: `links` are fat ones afterwards. Projects Naik links
// onto U(3) where kernels keep 13 or 9 reals of them; throws Error where they are not unitary, and where a link of
// HISQ's first level is singular. Fills in options.sloppy_naik_links. Links are computed on the GPU `cuda_device`, or
// on the host where that is -1 or where the GPU of some rank lacks the memory.
ImprovedGauge improve_links(const Communicator& communicator, LinkField& links, SessionOptions& options,
                            int cuda_device);

// The reals of a Naik link in the iterations, where `options` do not say. Throws Error where Naik links of this summary
// cannot be stored with as few reals as the options say. Local.
void choose_naik_forms(const ImprovedSummary& summary, SessionOptions& options);

// Makes a pair of what a caller gave, of which phases and boundary signs are out: fat links, and in `gauge` Naik links
// with their coefficient, `stated` or else measured, with this sign. Throws Error as take_out_coefficient does
// (dirac/gauge/link_pair.hpp), and as improve_links for the options.
void complete_pair(const Communicator& communicator, LinkField& fat, ImprovedGauge& gauge, int sign,
                   std::optional<double> stated, SessionOptions& options);

// Reads the pair of files that `headers` describe onto `lattice`. Throws as read_improved_links and improve_links do,
// and where the files hold boundary signs other than options.boundary.
struct StoredGauge {
  LinkField fat;
  ImprovedGauge improved;
  GaugeChecks checks;  // of both files: checksums of the long links are named long_*
};
StoredGauge read_stored_gauge(const Communicator& communicator, const ImprovedHeaders& headers, const Lattice& lattice,
                              SessionOptions& options);

}  // namespace staghorn
