// Checks of single functions that need no file and no run of the program.
//
// `unit_checks` lists all checks, a line each: the file of the check without `.cpp`, and the name of the check.
// `unit_checks NAME` runs one check and prints what it measured. The exit status is 0 if the check holds, 1 if it does
// not, 77 if this machine cannot run it.
#include "tests/unit/unit_checks.hpp"

#include <cstdio>

#include "halo/communicator.hpp"

int main(int argc, char** argv) {
  using namespace staghorn;
  const std::pair<const char*, std::vector<UnitCheck>> files[] = {
      {"random_checks", random_checks()},
      {"su3_checks", su3_checks()},
      {"text_checks", text_checks()},
      {"archive_checks", archive_checks()},
      {"improved_link_checks", improved_link_checks()},
      {"exact_sum_checks", exact_sum_checks()},
      {"plain_operator_checks", plain_operator_checks()},
      {"lattice_checks", lattice_checks()},
      {"halo_checks", halo_checks()},
      {"host_mapping_checks", host_mapping_checks()},
      {"launch_checks", launch_checks()},
      {"link_checks", link_checks()},
      {"output_file_checks", output_file_checks()},
      {"name_lock_checks", name_lock_checks()},
      {"record_file_checks", record_file_checks()},
      {"walk_checks", walk_checks()},
      {"hop_checks", hop_checks()},
      {"current_checks", current_checks()},
      {"meson_site_checks", meson_site_checks()},
      {"cg_checks", cg_checks()},
      {"improved_cg_checks", improved_cg_checks()},
      {"eigenpair_checks", eigenpair_checks()},
      {"bound_checks", bound_checks()},
      {"shifted_checks", shifted_checks()},
      {"coarse_checks", coarse_checks()},
      {"job_checks", job_checks()},
      {"hermitian_eigen_checks", hermitian_eigen_checks()},
      {"lanczos_checks", lanczos_checks()},
      {"vector_algebra_checks", vector_algebra_checks()},
      {"layout_checks", layout_checks()},
      {"slab_checks", slab_checks()},
      {"large_file_checks", large_file_checks()},
      {"share_checks", share_checks()},
      {"given_phase_checks", given_phase_checks()},
  };
  if (argc == 1) {
    for (const auto& [file, checks] : files)
      for (const UnitCheck& check : checks) std::printf("%s %s\n", file, check.name.c_str());
    return 0;
  }
  const MpiSession mpi;
  for (const auto& [file, checks] : files)
    for (const UnitCheck& check : checks) {
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
  return 2;
}
