// What the program and Python have certified: links, solutions and sources from files or from memory.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "solver/report/certify_report.hpp"
#include "solver/request/option_table.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

struct CertifyInput {
  std::string gauge;       // "": `links`, or fat and Naik links of session.quarks
  SessionOptions session;  // boundary, quarks and where ranks lie
  std::string solution;    // "": `solutions`
  SourceRequest source;    // of kind file without a path: `sources`
  CertifyRequest request;  // its quarks are filled in, and of files the precision of their numbers
  // Fields that are there already, on the whole lattice of one process.
  std::optional<LinkField> links{};
  std::vector<VectorField> solutions{}, sources{};
};

// The part of such input that options say: `named` are those that were given, as mass and system are found where they
// were not. Throws Error where a mass is negative or a tolerance is none. Local.
CertifyInput input_of_options(const SolveOptions& options, const std::set<std::string>& named);

// Reads what is in files, and certifies. Throws Error as `certify` does, for files that are damaged, and where lattices
// differ. Collective.
CertifyReport certify(const Communicator& communicator, CertifyInput input);

}  // namespace staghorn
