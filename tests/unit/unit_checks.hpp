// What the files of checks share. A check measures something, prints the figure, and says whether a rule holds. CHECK
// (check.hpp) prints the condition that does not hold.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "dirac/algebra/philox.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/unitary_projection.hpp"
#include "tests/unit/check.hpp"

namespace staghorn {

enum class Verdict { holds, fails, cannot_run };  // cannot_run: this machine lacks what it needs; printed why

struct UnitCheck {
  template <class Run>
  UnitCheck(std::string name, Run run) : name(std::move(name)), run([run] { return as_verdict(run()); }) {}

  std::string name;
  std::function<Verdict()> run;

 private:
  static Verdict as_verdict(bool holds) { return holds ? Verdict::holds : Verdict::fails; }
  static Verdict as_verdict(Verdict v) { return v; }
};

// A check with the name of its function.
#define UNIT_CHECK(function) UnitCheck(#function, function)

// The checks of the file of that name. unit_checks.cpp lists the files.
std::vector<UnitCheck> random_checks();
std::vector<UnitCheck> su3_checks();
std::vector<UnitCheck> text_checks();
std::vector<UnitCheck> archive_checks();
std::vector<UnitCheck> improved_link_checks();
std::vector<UnitCheck> exact_sum_checks();
std::vector<UnitCheck> plain_operator_checks();
std::vector<UnitCheck> lattice_checks();
std::vector<UnitCheck> halo_checks();
std::vector<UnitCheck> host_mapping_checks();
std::vector<UnitCheck> launch_checks();
std::vector<UnitCheck> link_checks();
std::vector<UnitCheck> hop_checks();
std::vector<UnitCheck> current_checks();
std::vector<UnitCheck> meson_site_checks();
std::vector<UnitCheck> cg_checks();
std::vector<UnitCheck> eigenpair_checks();
std::vector<UnitCheck> hermitian_eigen_checks();
std::vector<UnitCheck> lanczos_checks();
std::vector<UnitCheck> improved_cg_checks();
std::vector<UnitCheck> bound_checks();
std::vector<UnitCheck> shifted_checks();
std::vector<UnitCheck> coarse_checks();
std::vector<UnitCheck> job_checks();
std::vector<UnitCheck> output_file_checks();
std::vector<UnitCheck> name_lock_checks();
std::vector<UnitCheck> record_file_checks();
std::vector<UnitCheck> walk_checks();
std::vector<UnitCheck> vector_algebra_checks();
std::vector<UnitCheck> layout_checks();
std::vector<UnitCheck> slab_checks();
std::vector<UnitCheck> large_file_checks();
std::vector<UnitCheck> share_checks();
std::vector<UnitCheck> given_phase_checks();

inline RandomStream test_stream(std::uint64_t site) { return RandomStream(2024, RandomPurpose::hot_start, 0, site); }

inline ColorMatrix<double> random_matrix(RandomStream& random) {
  ColorMatrix<double> m;
  for (auto& row : m.e)
    for (auto& element : row) element = complex_gaussian(random);
  return m;
}

// Random links in SU(3).
inline void make_random(LinkField& links) {
  for (std::int64_t site = 0; site < links.size(); ++site) {
    RandomStream random = test_stream(std::uint64_t(site));
    for (auto& link : links[site])
      for (auto& row : link.e)
        for (auto& element : row) element = complex_gaussian(random);
  }
  reunitarize(links);
}

// Random links of improved quarks: fat ones of reals up to 2, Naik links in U(3).
inline void make_random_improved(LinkField& fat, LinkField& naik) {
  for (std::int64_t site = 0; site < fat.size(); ++site) {
    RandomStream random = test_stream(std::uint64_t(site));
    const auto unitary = [&] { return project_unitary(random_matrix(random)).unitary; };
    for (int mu = 0; mu < 4; ++mu) {
      naik[site][mu] = unitary();
      const auto u = unitary(), v = unitary();
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) fat[site][mu].e[i][j] = u.e[i][j] + v.e[i][j];
    }
  }
}

// The same field on a lattice of the same extents that is cut otherwise.
template <class Site>
SiteField<Site> on_lattice(const Lattice& lattice, const SiteField<Site>& field) {
  SiteField<Site> copy(lattice);
  std::copy(field.data(), field.data() + field.size(), copy.data());
  return copy;
}

}  // namespace staghorn
