// Gauge files of staghorn.h: their lattices, and their links in the layout of a host. And which MPI this library uses.
#include <mpi.h>
#include <staghorn.h>

#include <array>

#include "halo/watch/error.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/handles.hpp"
#include "solver/interface/host_fields.hpp"
#include "solver/interface/statuses.hpp"
#include "solver/interface/structs.hpp"

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
    const staghorn_links given = read_struct(links, "links");
    check(given);
    if (given.memory == STAGHORN_DEVICE)
      throw Error(ErrorKind::unsupported, "links.memory of a file that is read", "memory of the host",
                  "STAGHORN_DEVICE");
    layout = links_of_host(given, -1);
    check_pointer("u", u);
    for (int mu = 0; mu < (given.order == STAGHORN_QDP ? 4 : 1); ++mu) {
      check_pointer("u[mu]", u[mu]);
      written[std::size_t(mu)] = u[mu];
    }
    CallMemory memory;
    for (int mu = 0; mu < buffers_of(layout.order); ++mu)
      memory.writes("u", bytes_of(layout, context.lattice().local(), u[mu]), mu);
    require_own_memory(memory);
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

}  // namespace

}  // namespace staghorn

using namespace staghorn;

int staghorn_file_lattice(const char* path, std::int32_t extents[4]) {
  return guarded([&] {
    check_pointer("path", path);
    check_pointer("extents", extents);
    const GaugeHeader header = read_gauge_header(Communicator(), path);
    for (std::size_t mu = 0; mu < 4; ++mu) extents[mu] = header.extents[mu];
    return int(STAGHORN_OK);
  });
}

int staghorn_read_links(const staghorn_context* context, const char* path, int verify, const staghorn_links* links,
                        void* const u[4]) {
  return guarded([&] {
    const auto held = held_together(context);
    return run_together(*held, [&] {
      read_file(*held->context, path, verify, links, u);
      return int(STAGHORN_OK);
    });
  });
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
