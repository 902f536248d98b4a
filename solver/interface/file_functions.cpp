// Gauge files of staghorn.h: their lattices, and their links in the layout of a host. And which MPI this library uses.
#include <mpi.h>
#include <staghorn.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "halo/watch/error.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/struct_layouts.hpp"
#include "solver/interface/structs.hpp"
#include "solver/interface/words.hpp"

namespace staghorn {

namespace {

void read_file(const Context& context, const char* path, int verify, const staghorn_links* links, void* const* u) {
  const Communicator& all = context.communicator();
  HostLinks layout;
  std::array<void*, 4> written{};
  agree_alike(all, "staghorn_read_links", [&](Asked& asked) {
    check_pointer("path", path);
    check_choice("verify", verify, 0, 1);
    asked.add("path", path);
    asked.add("verify", verify);
    read_written_links(links, u, context.lattice().local(), layout, written);
  });
  const GaugeHeader header = read_gauge_header(all, path);
  if (header.extents != context.lattice().global())  // the same on every rank
    throw Error(ErrorKind::layout, std::string(path) + ": lattice", to_string(context.lattice().global()),
                to_string(header.extents));
  LinkField field(context.lattice());
  read_gauge(all, header, field, verify != 0);
  if (verify != 0) require_no_fault(path, fault_of_links(all, field));
  all.agree([&] { write_links(layout, field, written); });
}

void write_file(const Context& context, const char* path, const char* name, int replace,
                const staghorn_vectors* vectors, int n, const void* const* v) {
  const Communicator& all = context.communicator();
  std::vector<VectorField> fields;
  VectorFormat format{};
  agree_alike(all, "staghorn_write_vectors", [&](Asked& asked) {
    check_pointer("path", path);
    check_pointer("name", name);
    check_pointer("v", v);
    asked.add("path", path);
    asked.add("name", name);
    asked.add("replace", replace);
    asked.add("n", n);
    check_choice("replace", replace, 0, 1);
    check_choice("n", n, 1, 1L << 20);
    constexpr int some_gpu = 0;  // what lies there is refused by another text
    const VectorsArgument given(vectors, "vectors", some_gpu, nullptr);
    if (given.given.memory == STAGHORN_DEVICE || given.given.half)
      throw Error(ErrorKind::unsupported, "vectors of a file that is written", "full vectors in memory of the host",
                  given.given.half ? "half vectors" : "STAGHORN_DEVICE");
    format = vector_output_by_name(path);
    for (int i = 0; i < n; ++i) {
      check_memory("v[i]", v[i], STAGHORN_HOST, context.cuda_device());
      read_vector(given.host, given.signs, std::nullopt, v[i], fields.emplace_back(context.lattice()));
    }
  });
  write_vectors(all, path, name, fields, usual_precision(format), {}, replace != 0, format);
}

void give_lattice(const std::string& path, const std::optional<std::string>& dataset, std::int32_t* extents) {
  check_pointer("extents", extents);
  const GaugeHeader header = read_gauge_header(Communicator(), path, dataset);
  for (std::size_t mu = 0; mu < 4; ++mu) extents[mu] = header.extents[mu];
}

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_file_lattice(const char* path, std::int32_t extents[4]) {
  return guarded([&] {
    check_pointer("path", path);
    give_lattice(path, {}, extents);
  });
}

int staghorn_gauge_lattice(const char* path, const staghorn_words* words, std::int32_t extents[4]) {
  return guarded([&] {
    SolveOptions options;
    set_texts(options, texts_of(words), OptionsOf::context);
    const SessionOptions& session = options.session;
    if (!session.quarks.stored()) check_pointer("path", path);
    give_lattice(session.quarks.stored() ? session.quarks.fat->c_str() : path, session.dataset, extents);
  });
}

int staghorn_read_links(const staghorn_context* context, const char* path, int verify, const staghorn_links* links,
                        void* const u[4]) {
  return collectively(context, [&](HeldContext& held) { read_file(*held.context, path, verify, links, u); });
}

int staghorn_write_vectors(const staghorn_context* context, const char* path, const char* name, int replace,
                           const staghorn_vectors* vectors, int n, const void* const* v) {
  return collectively(context,
                      [&](HeldContext& held) { write_file(*held.context, path, name, replace, vectors, n, v); });
}

const char* staghorn_mpi_library(void) {
  static const std::string text = [] {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> letters{};
    int length = 0;
    MPI_Get_library_version(letters.data(), &length);  // may be called before MPI is initialised
    return std::string(letters.data(), std::size_t(length));
  }();
  return text.c_str();
}
