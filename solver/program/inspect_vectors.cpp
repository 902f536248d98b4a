#include "solver/program/inspect_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <ostream>
#include <sstream>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/cut_lattice.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/files/header_text.hpp"
#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/report/setting_json.hpp"

namespace staghorn {

namespace {

bool intact(const VectorContents& contents) {
  return std::all_of(contents.checks.begin(), contents.checks.end(),
                     [](const auto& check) { return unverified_checksums(check.second).empty(); });
}

// What the attributes of a solution by Staghorn say, or null for other vectors.
Json solution_json(const std::map<std::string, std::string>& fields) {
  const auto text = [&](const char* name) { return fields.count(name) ? fields.at(name) : std::string(); };
  const auto numbers = [&](const char* name) {
    Json list = Json::array();
    std::istringstream words(text(name));
    for (std::string word; words >> word;)
      if (const Json number = Json::parse(word, nullptr, false); number.is_number()) list.push_back(number);
    return list;
  };
  if (text("equation").empty() || text("outcome").empty()) return nullptr;
  return {{"equation", text("equation")},
          {"action", fields.count("action") ? text("action") : "naive"},
          {"masses", numbers(fields.count("masses") ? "masses" : "mass")},
          {"source", text("source")},
          {"boundary", text("boundary")},
          {"phases", text("phases")},
          {"gauge_file", text("gauge_file")},
          {"outcome", text("outcome")},
          {"tolerance", numbers("tolerance")},
          {"residual_true", numbers("residual_true")},
          {"iterations", numbers("iterations")}};
}

// What a checkpoint says of the solve that it belongs to, or null for other vectors. Collective.
Json checkpoint_json(const Communicator& communicator, const VectorHeader& header) {
  if (header.dataset != "checkpoint") return nullptr;
  const CheckpointContents contents = read_checkpoint(communicator, header.path);
  Json json = Json::object();
  for (const char* name : {"system", "mass", "solver", "numbers", "tolerance", "boundary", "staghorn_version"})
    json[name] = contents.texts.count(name) ? Json(contents.texts.at(name)) : Json(nullptr);
  const Reached& reached = contents.reached;
  json["iterations"] = reached.counted == "iterations" ? Json(reached.count) : Json(nullptr);
  json["sources_done"] = contents.state.has("sources") ? Json(contents.state.size("sources")) : Json(nullptr);
  return json;
}

// Attributes of a checkpoint that hold its state are no header.
std::map<std::string, std::string> header_fields(const VectorHeader& header) {
  std::map<std::string, std::string> fields = header.fields;
  if (header.dataset == "checkpoint")
    std::erase_if(fields, [](const auto& f) { return f.first.starts_with("state_"); });
  return fields;
}

std::string joined(const Json& list) {
  std::string text;
  for (const Json& item : list) text += (text.empty() ? "" : ", ") + text_of_json(item, -1);
  return text;
}

void print_solution(std::ostream& out, const Json& solution) {
  const auto text = [&](const char* name) { return solution[name].get<std::string>(); };
  out << "  solves      " << text("equation") << ", " << text("action") << " quarks, m = " << joined(solution["masses"])
      << "\n  source      " << text("source") << "\n  links       " << text("gauge_file") << ", boundary "
      << text("boundary") << ", phases " << text("phases") << "\n  outcome     " << text("outcome") << ", asked for "
      << joined(solution["tolerance"]) << "\n";
  if (solution["residual_true"].empty()) return;
  out << "  residuals   " << joined(solution["residual_true"]) << ", relative, in fp64 by the plain path\n";
}

void print_checkpoint(std::ostream& out, const Json& checkpoint) {
  const auto text = [&](const char* name) {
    return checkpoint[name].is_string() ? checkpoint[name].get<std::string>() : std::string("unknown");
  };
  out << "  checkpoint  of a solve: system " << text("system") << ", m = " << text("mass") << ", solver "
      << text("solver") << " in " << text("numbers") << ", boundary " << text("boundary") << ", to "
      << text("tolerance") << "\n  written by  Staghorn " << text("staghorn_version");
  if (!checkpoint["iterations"].is_null()) out << " after " << checkpoint["iterations"] << " iterations";
  if (!checkpoint["sources_done"].is_null()) out << ", sources done: " << checkpoint["sources_done"];
  out << "; --resume goes on from it\n";
}

void print_vectors_text(std::ostream& out, const VectorHeader& header, const std::vector<Norms2>& norms,
                        const VectorContents& contents, const Json& checkpoint, const std::string& fault) {
  out << header.path << "\n  format      " << to_string(header.format) << ", " << (header.big_endian ? "big" : "little")
      << "-endian, " << to_string(header.precision) << "\n  lattice     " << to_string(header.extents)
      << "  (X x Y x Z x T)\n  vectors     " << header.n_vectors
      << (header.dataset.empty() ? "" : ", dataset /" + header.dataset) << "\n";
  if (const Json solution = solution_json(header.fields); !solution.is_null()) print_solution(out, solution);
  if (!checkpoint.is_null()) print_checkpoint(out, checkpoint);
  for (std::size_t k = 0; k < norms.size(); ++k)
    out << "    |v" << k << "|^2 = " << shortest_digits(norms[k].all) << "  (even sites "
        << shortest_digits(norms[k].even) << ", odd " << shortest_digits(norms[k].odd) << ")\n";
  if (!fault.empty()) out << "  FAULT       " << fault << "\n";
  out << "  checks\n";
  for (const auto& [where, results] : contents.checks) print_checks(out, results);
  out << "  header\n";
  print_fields(out, header_fields(header));
}

void print_vectors_json(std::ostream& out, const VectorHeader& header, const std::vector<Norms2>& norms,
                        const VectorContents& contents, const Json& checkpoint, const std::string& fault) {
  Json json{{"file", header.path},
            {"holds", "color vectors"},
            {"format", to_string(header.format)},
            {"dataset", or_null(header.dataset)},
            {"lattice", header.extents},
            {"precision", to_string(header.precision)},
            {"big_endian", header.big_endian},
            {"vectors", header.n_vectors},
            {"solution", solution_json(header.fields)},
            {"checkpoint", checkpoint},
            {"norms", Json::array()},
            {"intact", intact(contents) && fault.empty()},
            {"fault", or_null(fault)},
            {"checksums", Json::array()},
            {"header", header_fields(header)}};
  for (const Norms2& n : norms)
    json["norms"].push_back({{"norm2", n.all}, {"norm2_even", n.even}, {"norm2_odd", n.odd}});
  for (const auto& [where, results] : contents.checks) json["checksums"].push_back(checksums_json(results));
  out << text_of_json(std::move(json)) << "\n";
}

// The largest | |v|^2 - 1 | over all vectors; NaN where one has NaN.
double departure_from_norm(const Communicator& communicator, const EigenvectorHeader& header, bool no_verify) {
  VectorField v(cut_lattice(communicator, header.extents));
  double largest = 0;
  read_each_eigenvector(
      communicator, header, v.lattice(), no_verify, [&](std::int64_t) -> VectorField& { return v; },
      [&](std::int64_t) {
        const double departure = std::fabs(norm2(communicator, v, Parity::even) - 1);
        if (std::isnan(departure) || departure > largest) largest = departure;
      });
  return largest;
}

}  // namespace

void print_checks(std::ostream& out, const ChecksumResults& checks) {
  for (const auto& [name, c] : checks)
    out << "    " << name << std::string(std::size_t(std::max<int>(1, 12 - int(name.size()))), ' ')
        << (c.match            ? "match   "
            : c.stored.empty() ? "ABSENT  "
                               : "MISMATCH")
        << "  stored " << (c.stored.empty() ? "none" : c.stored) << ", computed " << c.computed << "\n";
}

void print_fields(std::ostream& out, const std::map<std::string, std::string>& fields) {
  for (const auto& [name, value] : fields) out << "    " << name << " = " << value << "\n";
}

void inspect_vectors(const Communicator& communicator, const VectorHeader& header, bool as_json, bool no_verify,
                     std::ostream& out) {
  const Lattice lattice = cut_lattice(communicator, header.extents);
  const VectorContents contents = read_vector_contents(communicator, header, lattice);
  std::vector<Norms2> norms;
  for (const VectorField& field : contents.fields) norms.push_back(norms2(communicator, field));
  const Json checkpoint = checkpoint_json(communicator, header);
  const std::string fault =
      fault_of_vectors(communicator, contents.fields, Precision::fp64, header.dataset == "checkpoint");
  (as_json ? print_vectors_json : print_vectors_text)(out, header, norms, contents, checkpoint, fault);
  require_no_fault(header.path, fault);
  if (no_verify) return;
  for (const auto& [where, results] : contents.checks) require_verified(where, results);
}

void inspect_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, bool as_json,
                          bool no_verify, std::ostream& out) {
  const double departure = departure_from_norm(communicator, header, no_verify);
  const bool sound = departure <= 2 * most_departure_from_norm;
  const auto refuse_unsound = [&] {
    if (!sound)
      throw FileError(header.path + ": eigenvectors", "norm 1", "| |v|^2 - 1 | = " + shortest_digits(departure));
  };
  if (as_json) {
    Json json{{"file", header.path},
              {"holds", "eigenvectors"},
              {"format", to_string(header.format)},
              {"lattice", header.extents},
              {"precision", to_string(header.precision)},
              {"pairs", header.count()},
              {"values", header.values},
              {"residuals", header.residuals},
              {"values_have_checksum", !is_milc(header.format)},
              {"departure_from_norm", departure},
              {"intact", !no_verify && sound},
              {"header", header.fields}};
    out << text_of_json(std::move(json)) << "\n";
    return refuse_unsound();
  }
  out << header.path << "\n  format      " << to_string(header.format) << ", " << to_string(header.precision)
      << "\n  lattice     " << to_string(header.extents) << "  (X x Y x Z x T)\n  eigenpairs  " << header.count()
      << " of -D^2 on even sites, from " << shortest_digits(header.values.front()) << " to "
      << shortest_digits(header.values.back())
      << (is_milc(header.format) ? ", as the file says: no checksum covers them, a solve finds them anew" : "") << "\n";
  if (!header.residuals.empty())
    out << "  residuals   up to "
        << shortest_digits(*std::max_element(header.residuals.begin(), header.residuals.end()))
        << ", as the file says\n";
  out << "  norms       | |v|^2 - 1 | <= " << shortest_digits(departure) << "\n  checksums   "
      << (no_verify ? "not looked at" : "match") << "\n  header\n";
  print_fields(out, header.fields);
  refuse_unsound();
}

}  // namespace staghorn
