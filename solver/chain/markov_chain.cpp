#include "solver/chain/markov_chain.hpp"

#include <cmath>
#include <ostream>

#include "dirac/gauge/cuda_heatbath.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/name_pattern.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

// A request, with what its file says.
struct Chain {
  const ChainRequest& request;
  const std::function<void(int)>& sweep_begins;
  Extents extents{};
  int first_sweep = 0;

  int last_sweep() const { return first_sweep + request.sweeps; }
  bool saves(int n) const { return request.save_every > 0 && n % request.save_every == 0; }
};

// save_as with the number of sweeps in place of {n}.
std::string name_of(const Chain& chain, int n) {
  return fill_pattern(*chain.request.save_as, {{"n", std::to_string(n)}});
}

void print_plaquette(std::ostream& out, const Plaquette& p, int sweep) {
  out << format("sweep %6d  plaquette %.10f  (space %.10f, time %.10f)", sweep, p.all, p.space, p.time) << std::endl;
}

const LinkField& on_host(const LinkField& links) { return links; }

// Writes the links as they are after n sweeps.
void save(std::ostream& out, const Communicator& communicator, const Chain& chain, const std::string& path,
          const LinkField& links, int n) {
  std::map<std::string, std::string> metadata{
      {"creator", "staghorn " + version()},
      {"start", chain.request.start},
      {"sweeps", std::to_string(n)},
      {"overrelaxation", std::to_string(chain.request.heatbath.overrelaxation_steps)},
      {"seed", std::to_string(chain.request.heatbath.seed)},
      {"SEQUENCE_NUMBER", std::to_string(n)}};
  if (chain.request.sweeps > 0) metadata["BETA"] = shortest_digits(chain.request.heatbath.beta);
  metadata.insert(chain.request.metadata.begin(), chain.request.metadata.end());
  write_gauge(communicator, path, chain.request.format, chain.request.precision, links, metadata, chain.request.force);
  out << "written to " << path << " (" << to_string(chain.request.format) << ", " << to_string(chain.request.precision)
      << ")\n";
}

// The sweeps, on links of the CPU (LinkField) or the GPU (CudaLinkField).
template <class Field>
void run_sweeps(std::ostream& out, const Communicator& communicator, const Chain& chain, Field& links) {
  const Stopwatch sweeping;
  for (int sweep = chain.first_sweep; sweep < chain.last_sweep(); ++sweep) {
    if (chain.sweep_begins) chain.sweep_begins(sweep - chain.first_sweep);
    if (chain.request.measure_every > 0 && sweep % chain.request.measure_every == 0)
      print_plaquette(out, plaquette(communicator, links), sweep);
    heatbath_sweep(communicator, links, chain.request.heatbath, std::uint32_t(sweep));
    if (chain.saves(sweep + 1)) save(out, communicator, chain, name_of(chain, sweep + 1), on_host(links), sweep + 1);
  }
  print_plaquette(out, plaquette(communicator, links), chain.last_sweep());
  if (chain.request.sweeps > 0)
    out << format("%d sweeps in %.2f s, %.4g s each", chain.request.sweeps, sweeping.seconds(),
                  sweeping.seconds() / chain.request.sweeps)
        << std::endl;
  if (chain.request.output) save(out, communicator, chain, *chain.request.output, on_host(links), chain.last_sweep());
}

template <class Field>
void set_start(Field& links, const Chain& chain) {
  if (chain.request.start == "hot")
    set_hot(links, chain.request.heatbath.seed);
  else
    set_cold(links);
}

// Chain and files. `header` is that of the file to start from, if there is one.
LinkField make_links(std::ostream& out, const Communicator& communicator, const Chain& chain,
                     const std::optional<GaugeHeader>& header) {
  const Lattice lattice = cut_lattice(communicator, chain.extents, chain.request.grid);
  int cuda_device = -1;
  const bool on_cpu = communicator.size() > 1 || header;  // the heatbath on a GPU knows no cut, and makes its start
  communicator.agree([&] {
    if (header && chain.request.device.starts_with("cuda"))
      throw Error("device", "auto or cpu for a chain that starts from a file", "'" + chain.request.device + "'");
    if (chain.request.device.find(',') != std::string::npos)
      throw Error("device", "auto, cpu or cuda, for all ranks alike", "'" + chain.request.device + "'");
    cuda_device = choose_device(chain.request.device == "auto" && on_cpu ? "cpu" : chain.request.device, 0);
  });
  out << "staghorn " << version() << ": " << describe_device(cuda_device) << ", " << to_string(chain.extents) << "\n";
  if (cuda_device >= 0) {
    cuda::select_device(cuda_device);
    CudaLinkField links(lattice);
    set_start(links, chain);
    run_sweeps(out, communicator, chain, links);
    return on_host(links);
  }
  LinkField links(lattice);
  if (header) {
    read_gauge(communicator, *header, links);
    require_su3(chain.request.start, check_unitarity(communicator, links), false);
    if (header->precision != Precision::fp64) reunitarize(links);  // their rounding would stay with the chain
    out << "goes on from " << chain.request.start << ", sweep " << chain.first_sweep << "\n";
  } else {
    set_start(links, chain);
  }
  run_sweeps(out, communicator, chain, links);
  return links;
}

// Sweeps that the chain of a file has behind it, as Staghorn and NERSC's archives write them; 0 where it says nothing.
int sweeps_behind(const GaugeHeader& header) {
  for (const char* name : {"sweeps", "SEQUENCE_NUMBER"})
    if (header.fields.count(name))
      return int(whole_number(header.path + ": " + name, header.fields.at(name), 0, 1'000'000'000));
  return 0;
}

void require_sweep_in_name(const std::string& pattern) {
  try {
    if (pattern_fields(pattern) != std::vector<std::string>{"n"})
      throw Error("save_as", "a name with {n}, or with {n:04} for four digits", "'" + pattern + "'");
  } catch (const Error& error) {
    throw Error(about_option("save_as", error.what()));
  }
}

}  // namespace

void check_chain(const ChainRequest& request) {
  for (const auto& [name, value] : {std::pair{"sweeps", request.sweeps},
                                    {"measure_every", request.measure_every},
                                    {"overrelaxation", request.heatbath.overrelaxation_steps},
                                    {"save_every", request.save_every}})
    if (value < 0) throw Error(name, "a number of at least 0", value);
  if (!request.extents && !request.from_file()) throw Error("lattice", "extents, unless `start` names a file", "none");
  if ((request.save_every > 0) != request.save_as.has_value())
    throw Error("save_every", "`save_as` beside it", request.save_as ? "`save_as` alone" : "none");
  if (request.save_as) require_sweep_in_name(*request.save_as);
  if (request.output == request.start || (request.save_as && request.output == request.save_as))
    throw Error("output", "a name of its own", "'" + *request.output + "'");
}

LinkField run_chain(const Communicator& communicator, const ChainRequest& request, std::ostream& out,
                    const std::function<void(int)>& sweep_begins) {
  check_chain(request);
  if (!std::isfinite(request.heatbath.beta) || request.heatbath.beta < 0)
    throw Error("beta", "a number of at least 0", request.heatbath.beta);
  Chain chain{request, sweep_begins, request.extents.value_or(Extents{})};
  std::optional<GaugeHeader> header;
  if (request.from_file()) {
    header = read_gauge_header(communicator, request.start);
    if (request.extents && chain.extents != header->extents)
      throw FileError(request.start, "a lattice of " + to_string(chain.extents), to_string(header->extents));
    chain.extents = header->extents;
    chain.first_sweep = sweeps_behind(*header);
  }
  for (int n = chain.first_sweep + 1; n <= chain.last_sweep(); ++n)
    if (chain.saves(n)) check_writable(communicator, name_of(chain, n), request.force);
  // Of files that are kept on the way the last one stands for all: two chains with the same names meet there.
  ClaimedNames names(communicator);
  for (int n = chain.last_sweep(); n > chain.first_sweep; --n)
    if (chain.saves(n)) {
      names.claim(name_of(chain, n), request.force);
      break;
    }
  if (request.output) names.claim(*request.output, request.force);
  return make_links(out, communicator, chain, header);
}

}  // namespace staghorn
