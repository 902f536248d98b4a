#include "halo/transport/transport_choice.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "halo/communicator_attribute.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/face_exchange.hpp"
#include "halo/transport/test_faces.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "halo/watch/surroundings.hpp"
#include "halo/watchdog.hpp"

namespace staghorn {

namespace {

constexpr int least_rounds = 5, most_rounds = 20;
constexpr double timing_seconds = 0.01;  // for each transport, unless the least number of rounds takes longer
constexpr double patience_of_kernels = 10;

// An answer depends on the ranks and on this. With the widths of all slabs every rank finds the answer of one trial.
using Question = std::tuple<std::string, MemorySpace, cuda::DeviceId, std::array<std::size_t, 8>, SlabWidths>;
using Answers = std::map<Question, TransportChoice>;

bool is_corrupted(const std::string& name) {
  const char* corrupted = environment_variable("STAGHORN_CORRUPT_TRANSPORT");
  return corrupted && name == corrupted;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

void require_usable(const Communicator& communicator, const std::string& name, MemorySpace space) {
  const std::string obstacle = transport_obstacle(communicator, name, space);
  if (!obstacle.empty()) throw Error("transport " + name + " cannot be used here: " + obstacle);
}

class Trial {
 public:
  Trial(const Communicator& communicator, const Lattice& lattice, const std::array<std::size_t, 8>& face_bytes,
        MemorySpace space, const std::string& name)
      : communicator_(communicator), space_(space), name_(name) {
    exchange_ = std::make_unique<FaceExchange>(communicator, lattice, face_bytes, space, name);
    exchange_->set_wait_limit(patience_of_kernels);
    communicator.agree([&] { faces_ = std::make_unique<TestFaces>(lattice, face_bytes, space); });
  }

  // Throws Error on all ranks if a byte on one rank is wrong. Two rounds, because rounds take turns in memory.
  void test() {
    for (std::uint64_t round = 1; round <= 2; ++round) {
      const std::string fault = fault_of_round(round);
      communicator_.agree([&] {
        if (!fault.empty()) throw Error(fault);
      });
    }
  }

  // The same on all ranks.
  double median_seconds() {
    const double first = time_round();
    const int rounds = std::clamp(int(timing_seconds / first), least_rounds, most_rounds);
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) seconds.push_back(time_round());
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }

 private:
  // What was wrong on this rank; "" if nothing was. Other exceptions are thrown on: neighbours may wait for faces that
  // this rank never sent.
  std::string fault_of_round(std::uint64_t round) {
    const bool wrong = is_corrupted(name_) && communicator_.is_root();
    try {
      faces_->pack(*exchange_, wrong ? round + 100 : round);
      exchange_->start();
      exchange_->progress();
      exchange_->finish();
      exchange_->await(patience_of_kernels);
      return faces_->fault(*exchange_, round);
    } catch (const Stalled& stalled) {
      return stalled.what();
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {
      return error.what();
    }
  }

  double time_round() {
    communicator_.barrier();
    const double start = wall_seconds();
    faces_->pack_again(*exchange_);
    exchange_->start();
    exchange_->finish();
    if (space_ == MemorySpace::cuda) cuda::synchronize();
    return communicator_.max(wall_seconds() - start);
  }

  const Communicator& communicator_;
  MemorySpace space_;
  std::string name_;
  std::unique_ptr<FaceExchange> exchange_;
  std::unique_ptr<TestFaces> faces_;
};

TransportTrial try_transport(const Communicator& communicator, const Lattice& lattice,
                             const std::array<std::size_t, 8>& face_bytes, MemorySpace space, const std::string& name) {
  TransportTrial result;
  result.name = name;
  result.left_out = transport_obstacle(communicator, name, space);
  if (!result.left_out.empty()) return result;
  std::optional<Trial> trial;
  try {
    trial.emplace(communicator, lattice, face_bytes, space, name);
    trial->test();
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {  // the same on all ranks
    result.left_out = error.what();
    result.kind = error.kind();
    result.failed = true;
    return result;
  }
  result.seconds = trial->median_seconds();
  return result;
}

// The transport that ranks of one kind take, "p2p" of "p2p+staged".
std::string first_way(const std::string& name) {
  const Ways ways = find_ways(name, MemorySpace::cuda);
  return (ways.among_gpus ? ways.among_gpus : ways.others)->name;
}

TransportChoice try_all(const Communicator& communicator, const Lattice& lattice,
                        const std::array<std::size_t, 8>& face_bytes, MemorySpace space, const std::string& wanted,
                        const std::vector<std::string>& names) {
  const Activity activity("testing transports");
  const double start = wall_seconds();
  TransportChoice choice;
  for (const std::size_t bytes : face_bytes) choice.face_bytes += std::int64_t(bytes);
  const bool only_one_asked_for = wanted != "auto" && names.size() == 1;
  if (only_one_asked_for) require_usable(communicator, names.front(), space);
  std::vector<std::string> obstacles;
  int usable = 0;
  const TransportTrial* best = nullptr;
  choice.tried.reserve(names.size());
  for (const std::string& name : names) {
    const TransportTrial& trial =
        choice.tried.emplace_back(try_transport(communicator, lattice, face_bytes, space, name));
    if (!trial.left_out.empty()) {
      obstacles.push_back(name + (trial.failed ? " failed its test: " : ": ") + trial.left_out);
      continue;
    }
    ++usable;
    if (!best || trial.seconds < best->seconds) best = &trial;
  }
  if (!best && only_one_asked_for) throw Error(choice.tried.front().kind, "transport " + obstacles.front());
  if (!best) throw Error(choice.tried.front().kind, "no transport can be used here: " + joined(obstacles, "; "));
  choice.name = best->name;
  choice.reason = wanted != "auto" ? "asked for" : usable > 1 ? "the fastest" : "the only one";
  choice.seconds = communicator.max(wall_seconds() - start);
  return choice;
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
  return text;
}

}  // namespace

TransportChoice choose_transport(const Communicator& communicator, const Lattice& lattice,
                                 const std::array<std::size_t, 8>& face_bytes, MemorySpace space,
                                 const std::string& wanted) {
  const bool on_gpu = space == MemorySpace::cuda, mixed = communicator.any(on_gpu) && communicator.any(!on_gpu);
  const bool several_gpus = mixed && communicator.sum(std::int64_t(on_gpu)) > 1;
  const std::vector<std::string> known = mixed ? mixed_transport_names(several_gpus) : transport_names(space);
  std::vector<std::string> names, first_ways;
  for (const std::string& name : known) {
    const std::string way = first_way(name);
    if (wanted == "auto" || way == wanted) names.push_back(name);
    if (std::find(first_ways.begin(), first_ways.end(), way) == first_ways.end()) first_ways.push_back(way);
  }
  if (names.empty())
    throw Error(
        "transport",
        "auto or one of " + joined(first_ways, ", ") + (mixed ? ", for some ranks compute on CPUs beside GPUs" : ""),
        "'" + wanted + "'");
  if (volume(lattice.grid()) == 1) {
    if (wanted != "auto") require_usable(communicator, wanted, space);
    TransportChoice choice;
    choice.name = "self";
    choice.reason = "no face leaves its rank";
    return choice;
  }
  const Question question{wanted, space, space == MemorySpace::cuda ? cuda::device_id() : cuda::DeviceId{}, face_bytes,
                          lattice.widths()};
  Answers& answers = communicator_attribute<Answers>(communicator);
  const auto found = answers.find(question);
  if (!communicator.any(found == answers.end())) return found->second;
  return answers[question] = try_all(communicator, lattice, face_bytes, space, wanted, names);
}

std::string to_string(const TransportChoice& choice) {
  std::vector<std::string> others;
  std::string text = choice.name + ", " + choice.reason;
  for (const TransportTrial& trial : choice.tried) {
    if (trial.name == choice.name) {
      char size[32];
      std::snprintf(size, sizeof size, "%.3g MB", double(choice.face_bytes) * 1e-6);
      text += ": " + microseconds(trial.seconds) + " an exchange of " + size;
    } else {
      others.push_back(trial.name + (trial.left_out.empty() ? " " + microseconds(trial.seconds) : " left out"));
    }
  }
  return text + (others.empty() ? "" : "; ") + joined(others, "; ");
}

std::vector<std::string> transport_warnings(const TransportChoice& choice) {
  std::vector<std::string> warnings;
  for (const TransportTrial& trial : choice.tried)
    if (trial.failed)
      warnings.push_back("transport " + trial.name + " failed its test and is left out: " + trial.left_out);
  return warnings;
}

}  // namespace staghorn
