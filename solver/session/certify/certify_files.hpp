// Certificates of solutions in files, as the program and Python ask for them.
#pragma once

#include <string>

#include "halo/communicator.hpp"
#include "solver/report/certify_report.hpp"
#include "solver/request/certify_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

struct CertifyFiles {
  std::string gauge;       // "": fat and Naik links of session.quarks
  SessionOptions session;  // boundary, quarks and where ranks lie
  std::string solution;
  SourceRequest source;    // of the solutions
  CertifyRequest request;  // its quarks and the precision of its numbers are filled in
};

// Throws Error where a mass is negative or a tolerance is none. Local.
void check_certify_request(const CertifyRequest& request);

// Reads links, solutions and sources, and certifies. Throws Error as `certify` does, for files that are damaged, and
// where their lattices differ. Collective.
CertifyReport certify_files(const Communicator& communicator, const CertifyFiles& files);

}  // namespace staghorn
