// What shows that the numbers of a file are damaged, whatever its checksums say: NaN, infinities, zeros, links of an
// impossible size. Collective.
#pragma once

#include <span>
#include <string>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// "3 of 512 links have NaN or infinity", "512 of 512 links are zero"; empty where the largest number of each link
// lies between 1e-10 and 1e10.
// `stored`: the precision of a file, in which a finite double may become infinity. Fields on the host.
std::string fault_of_links(const Communicator& communicator, const LinkField& links,
                           Precision stored = Precision::fp64);

// "vector 2 has NaN or infinity among its numbers at 3 sites", "vector 2 is zero at every site"; empty where neither is
// so. The state of a solve in a checkpoint may be zero.
std::string fault_of_vectors(const Communicator& communicator, std::span<const VectorField> vectors,
                             Precision stored = Precision::fp64, bool may_be_zero = false);

// Throws FileError, naming the file that they are from, where there is such a fault.
void require_no_fault(const std::string& path, const std::string& fault);

}  // namespace staghorn
