// Checks of single functions that need no file and no run of the program.
//
// `unit_checks` lists the names; `unit_checks NAME` runs one, prints what it measured and exits 0 if it holds, 1 if it
// does not, 77 if this machine cannot run it.
#include "tests/unit/unit_checks.hpp"

#include <cstdio>

#include "halo/communicator.hpp"

int main(int argc, char** argv) {
  using namespace staghorn;
  const MpiSession mpi;
  for (const auto& group :
       {random_checks(), su3_checks(), exact_sum_checks(), plain_operator_checks(), lattice_checks(),
        host_mapping_checks(), launch_checks(), walk_checks(), hop_checks(), cg_checks()})
    for (const UnitCheck& check : group) {
      if (argc == 1) std::printf("%s\n", check.name.c_str());
      if (argc != 2 || check.name != argv[1]) continue;
      switch (check.run()) {
        case Verdict::holds:
          return 0;
        case Verdict::fails:
          return 1;
        case Verdict::cannot_run:
          return 77;
      }
    }
  return argc == 1 ? 0 : 2;
}
