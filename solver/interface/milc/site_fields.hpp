// Links and momenta where MILC keeps them: in its array of sites, or in fields of their own.
#pragma once

#include <quda_milc_interface.h>
#include <staghorn.h>

#include <cstddef>

namespace staghorn::milc {

// Four of something at each site, from number to number of the order of MILC, even sites first.
class SiteField {
 public:
  // Links: 18 reals each; momenta: 10. `precision`: of MILC's numbers, 1 or 2. Throw Error where a pointer is NULL, or
  // numbers do not lie where their size wants them. Local.
  static SiteField links(int precision, const QudaMILCSiteArg_t* arg);
  static SiteField momenta(int precision, const QudaMILCSiteArg_t* arg);

  // The reals of the four of a site, as doubles, and back. Local.
  void read(std::size_t site, double* reals) const;
  void write(std::size_t site, const double* reals) const;

  // Links as staghorn.h describes them, u[0] being first_site(). phase_in: they hold MILC's phases and the sign of t.
  staghorn_links layout(bool phase_in) const;
  void* first_site() const { return first_; }

 private:
  SiteField(int precision, void* site, void* field, std::size_t offset, std::size_t size, int reals);

  int precision_;  // staghorn_precision
  int reals_;      // of a site
  char* first_;
  std::size_t offset_, stride_;
};

}  // namespace staghorn::milc
