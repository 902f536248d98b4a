#include "halo/communicator.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <optional>
#include <thread>
#include <utility>

#include "halo/one_process/launched_together.hpp"
#include "halo/watch/adverse_timing.hpp"
#include "halo/watch/alarm.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/failure_words.hpp"
#include "halo/watch/forked.hpp"
#include "halo/watch/stopwatch.hpp"
#include "halo/watch/surroundings.hpp"
#include "halo/watchdog.hpp"

namespace staghorn {

MpiSession::MpiSession() : owner_(false) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) return;
  const QuickStartAlone quick;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
    throw Error("MPI could not be initialised");
  owner_ = true;
}

MpiSession::~MpiSession() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (owner_ && !finalised && !mpi_is_of_the_parent()) MPI_Finalize();
}

// The constructor that it delegates to has ended: what it throws frees the duplicate.
Communicator::Communicator(MPI_Comm parent) : Communicator() { duplicate(parent); }

void Communicator::duplicate(MPI_Comm parent) {
  check_mpi(MPI_Comm_dup(parent, &handle_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
}

// No function here may throw on one rank before all know of it: they agree in `parent`, which blocks.
Communicator Communicator::with_alarm(MPI_Comm parent) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(parent, &rank);
  MPI_Comm_size(parent, &ranks);
  const auto together = [&](const auto& step) {
    struct {
      ErrorKind kind = ErrorKind::mpi;
      std::array<char, 256> text{};
    } told;
    int first = ranks;  // that failed
    try {
      step();
    } catch (const std::exception& error) {
      const std::string who = ranks > 1 ? "rank " + std::to_string(rank) + ": " : "";
      const FailureWords words = words_of_failure(error);
      told.kind = words.kind;
      std::snprintf(told.text.data(), told.text.size(), "%s%s", who.c_str(), words.text.c_str());
      first = rank;
    }
    const int code = MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, parent);
    if (code == MPI_SUCCESS && first == ranks) return;
    if (code == MPI_SUCCESS) MPI_Bcast(&told, int(sizeof told), MPI_BYTE, first, parent);
    throw Error(told.kind, told.text.data());
  };
  std::optional<Communicator> made;
  together([&] { made.emplace(); });  // its memory, before a call that waits for all
  together([&] { made->duplicate(parent); });
  if (made->size() == 1) return std::move(*made);
  struct Freed {
    MPI_Comm group = MPI_COMM_NULL;
    ~Freed() {
      if (group != MPI_COMM_NULL) MPI_Comm_free(&group);
    }
  } freed;
  together([&] {
    check_mpi(MPI_Comm_dup(parent, &freed.group), "MPI_Comm_dup");
    check_mpi(MPI_Comm_set_errhandler(freed.group, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    made->alarm_ = std::make_shared<Alarm>(freed.group, patience_seconds());
    freed.group = MPI_COMM_NULL;
  });
  return std::move(*made);
}

void Communicator::renew() {
  kept_alone_->clear();
  alike_.reset();
  handle_ = alarm_->fresh_communicator(rank_);
  epoch_ = alarm_->epoch();
}

void Communicator::enter() const {
  if (alarm_) alarm_->enter({handle_, rank_, size_});
}

void Communicator::exchange(int to, const void* sent, int from, void* received, int count, MPI_Datatype type,
                            int tag) const {
  if (alarm_) return alarm_->exchange({handle_, rank_, size_}, {to, sent, from, received, count, type, tag});
  check_mpi(MPI_Sendrecv(sent, count, type, to, tag, received, count, type, from, tag, handle_, MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
}

// By MPI, whose operation is `op`; or by messages that hear the alarm, where `same` is that operation.
template <class T, class Op>
void Communicator::combine(std::span<T> values, MPI_Datatype type, MPI_Op op, const Op& same) const {
  if (alarm_) return alarm_->combine({handle_, rank_, size_}, values, same);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), int(values.size()), type, op, handle_), "MPI_Allreduce");
}

Communicator::~Communicator() {
  alike_.reset();
  if (is_alone()) return;
  if (alarm_) {
    alarm_->retire(handle_, epoch_);
    return;
  }
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (!finalised) MPI_Comm_free(&handle_);
}

Communicator::Communicator(Communicator&& other) noexcept
    : sharers_(std::move(other.sharers_)),
      alarm_(std::move(other.alarm_)),
      alike_(std::move(other.alike_)),
      epoch_(other.epoch_),
      handle_(std::exchange(other.handle_, MPI_COMM_NULL)),
      rank_(other.rank_),
      size_(other.size_),
      kept_alone_(std::move(other.kept_alone_)) {}

Communicator Communicator::split(int color, int key) const {
  if (is_alone()) return {};
  MPI_Comm part = MPI_COMM_NULL;
  struct Freed {
    MPI_Comm& part;
    ~Freed() {
      if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
    }
  } freed{part};
  Communicator made;  // takes memory, and may throw on one rank alone; MPI_Comm_dup waits for all and hears no alarm
  enter();
  check_mpi(MPI_Comm_split(handle_, color, key, &part), "MPI_Comm_split");
  enter();
  made.duplicate(part);
  made.sharers_ = sharers_;
  made.alarm_ = alarm_;
  if (alarm_) made.epoch_ = alarm_->epoch();
  return made;
}

const Communicator& Communicator::alike(int number) const {
  if (!alike_) alike_ = std::make_unique<Communicator>(split(number, rank_));
  return *alike_;
}

std::vector<int> Communicator::hosts() const {
  int pretended = 0;  // ranks per host, rank 0's
  agree([&] {
    const char* text = environment_variable("STAGHORN_RANKS_PER_HOST");
    if (rank_ != 0 || !text || !*text) return;
    char* end = nullptr;
    const long number = std::strtol(text, &end, 10);
    if (*end || number < 1 || number > std::numeric_limits<int>::max())
      throw Error("STAGHORN_RANKS_PER_HOST", "a number of at least 1", "'" + std::string(text) + "'");
    pretended = int(number);
  });
  if (is_alone()) return {0};
  broadcast(&pretended, sizeof pretended);
  int first = rank_;  // rank of this host
  if (pretended > 0) {
    first = rank_ / pretended * pretended;
  } else {
    MPI_Comm host = MPI_COMM_NULL;
    enter();
    check_mpi(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
    enter();
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, host), "MPI_Allreduce");
    check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  }
  std::vector<int> firsts(std::size_t(size_), 0);
  enter();
  check_mpi(MPI_Allgather(&first, 1, MPI_INT, firsts.data(), 1, MPI_INT, handle_), "MPI_Allgather");
  std::vector<int> hosts(firsts.size());
  int found = 0;
  for (std::size_t rank = 0; rank < firsts.size(); ++rank)
    hosts[rank] = firsts[rank] == int(rank) ? found++ : hosts[std::size_t(firsts[rank])];
  return hosts;
}

int Communicator::rank_on_host() const {
  if (sharers_) return sharers_->rank;
  if (is_alone()) return 0;
  MPI_Comm host = MPI_COMM_NULL;
  enter();
  check_mpi(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int rank = 0;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_free(&host);
  return rank;
}

void Communicator::barrier() const {
  if (is_alone()) return;
  const CollectiveActivity activity("barrier", rank_);
  if (alarm_) return alarm_->meet({handle_, rank_, size_});
  check_mpi(MPI_Barrier(handle_), "MPI_Barrier");
}

void Communicator::patient_barrier() const {
  if (is_alone()) return;
  const CollectiveActivity activity("patient barrier", rank_);
  const PatientWait wait;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(handle_, &request), "MPI_Ibarrier");
  for (int done = 0;;) {
    const int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    check_mpi_until(done != 0, code, "MPI_Test");
    if (done) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool Communicator::all_arrive(double seconds) const {
  if (is_alone()) return true;
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(handle_, &request), "MPI_Ibarrier");
  for (const Stopwatch waiting;;) {
    int done = 0;
    const int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    check_mpi_until(done != 0, code, "MPI_Test");
    if (done) return true;
    if (waiting.seconds() > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Communicator::sum(std::span<std::int64_t> values) const {
  if (size_ == 1) return;
  const CollectiveActivity activity("sum over ranks", rank_);
  combine(values, MPI_INT64_T, MPI_SUM, [](auto a, auto b) { return a + b; });
}

std::int64_t Communicator::sum(std::int64_t value) const {
  sum({&value, 1});
  return value;
}

void Communicator::sum(std::span<double> values) const {
  if (size_ == 1) return;
  const CollectiveActivity activity("sum over ranks", rank_);
  combine(values, MPI_DOUBLE, MPI_SUM, [](auto a, auto b) { return a + b; });
}

std::uint32_t Communicator::exclusive_or(std::uint32_t value) const {
  if (is_alone()) return value;
  const CollectiveActivity activity("exclusive or over ranks", rank_);
  combine(std::span<std::uint32_t>(&value, 1), MPI_UINT32_T, MPI_BXOR, [](auto a, auto b) { return a ^ b; });
  return value;
}

double Communicator::max(double value) const {
  if (is_alone()) return value;
  const CollectiveActivity activity("maximum over ranks", rank_);
  double pair[2] = {std::isnan(value) ? 1.0 : 0.0, std::isnan(value) ? 0.0 : value};
  combine(std::span<double>(pair), MPI_DOUBLE, MPI_MAX, [](auto a, auto b) { return std::max(a, b); });
  return pair[0] > 0 ? std::numeric_limits<double>::quiet_NaN() : pair[1];
}

void Communicator::max(std::span<double> values) const {
  if (is_alone()) return;
  const CollectiveActivity activity("maximum over ranks", rank_);
  combine(values, MPI_DOUBLE, MPI_MAX, [](auto a, auto b) { return std::max(a, b); });
}

bool Communicator::any(bool value) const {
  if (is_alone()) return value;
  const CollectiveActivity activity("agreement of ranks", rank_);
  int flag = value;
  combine(std::span<int>(&flag, 1), MPI_INT, MPI_LOR, [](auto a, auto b) { return int(a || b); });
  return flag != 0;
}

void Communicator::broadcast(void* data, std::size_t bytes, int root) const {
  if (is_alone()) return;
  constexpr std::size_t most = std::size_t(1) << 30;  // MPI counts in int
  const CollectiveActivity activity("broadcast", rank_);
  for (std::size_t sent = 0; sent < bytes || sent == 0; sent += most) {
    enter();
    check_mpi(MPI_Bcast(static_cast<char*>(data) + sent, int(std::min(most, bytes - sent)), MPI_BYTE, root, handle_),
              "MPI_Bcast");
  }
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  std::uint64_t length = text.size();
  broadcast(&length, sizeof length, root);
  std::string result = text;
  result.resize(length);
  broadcast(result.data(), length, root);
  return result;
}

void Communicator::agree(const std::function<void()>& work) const {
  std::string message;
  ErrorKind kind = ErrorKind::value;
  bool failed = true;
  try {
    work();
    failed = false;
  } catch (const LocalError& error) {
    message = (size_ > 1 ? "rank " + std::to_string(rank_) + ": " : "") + error.what();
    kind = error.kind();
  } catch (const std::exception& failure) {
    const FailureWords words = words_of_failure(failure);
    message = words.text;
    kind = words.kind;
  }
  if (is_alone()) {
    if (failed) throw Error(kind, message);
    return;
  }
  const CollectiveActivity activity("agreement of ranks", rank_);
  int first = failed ? rank_ : size_;
  combine(std::span<int>(&first, 1), MPI_INT, MPI_MIN, [](auto a, auto b) { return std::min(a, b); });
  if (first == size_) return;
  if (first > 0) {  // where rank 0 has no such error, its host may have other files
    std::array<char, 256> root{}, own{};
    ::gethostname(own.data(), own.size() - 1);
    root = own;
    enter();
    check_mpi(MPI_Bcast(root.data(), int(root.size()), MPI_CHAR, 0, handle_), "MPI_Bcast");
    if (root != own)
      message +=
          " (rank " + std::to_string(rank_) + ", on host " + own.data() + "; not rank 0, on host " + root.data() + ")";
  }
  int length_and_kind[] = {int(message.size()), int(kind)};
  enter();
  check_mpi(MPI_Bcast(length_and_kind, 2, MPI_INT, first, handle_), "MPI_Bcast");
  message.resize(std::size_t(length_and_kind[0]));
  enter();
  check_mpi(MPI_Bcast(message.data(), length_and_kind[0], MPI_CHAR, first, handle_), "MPI_Bcast");
  throw Error(ErrorKind(length_and_kind[1]), message);
}

}  // namespace staghorn
