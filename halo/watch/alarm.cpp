#include "halo/watch/alarm.hpp"

#include <algorithm>
#include <array>
#include <exception>

#include "halo/watch/check_mpi.hpp"
#include "halo/watch/failure_words.hpp"
#include "halo/watch/stopwatch.hpp"

namespace staghorn {

namespace {

// So much longer than a kernel of a GPU waits for another rank, which then fails and comes too.
constexpr double seconds_after_patience = 10;

enum { bell_tag, first_ending_tag, second_ending_tag, tags_of_epoch };
constexpr int epochs_with_tags = 4096;

}  // namespace

Alarm::Messages::Messages(Alarm& alarm, std::span<MPI_Request> requests, std::size_t receives)
    : alarm_(alarm), requests_(requests), receives_(receives) {}

Alarm::Messages::~Messages() {
  if (travelling_) alarm_.settle();
}

void Alarm::Messages::begin() {
  alarm_.travelling_.push_back(this);
  travelling_ = true;
}

int Alarm::Messages::test(bool& done) {
  int flag = 0;
  const int code = MPI_Testall(int(requests_.size()), requests_.data(), &flag, MPI_STATUSES_IGNORE);
  done = flag != 0;
  if (done) end();
  return code;
}

void Alarm::Messages::end() {
  travelling_ = false;
  std::erase(alarm_.travelling_, this);
}

int Alarm::Messages::wait(double limit) {
  for (const Stopwatch waiting;;) {
    bool done = false;
    const int code = test(done);
    if (done || code != MPI_SUCCESS) return code;
    alarm_.hear();
    if (limit > 0 && waiting.seconds() > limit) alarm_.give_up();
  }
}

// Return codes do not matter here: the communicator is given up.
void Alarm::Messages::call_back() noexcept {
  for (MPI_Request& request : requests_.first(receives_)) {
    if (request == MPI_REQUEST_NULL) continue;
    int done = 0;  // or not begun
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    if (!done) MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  travelling_ = false;
}

Alarm::Alarm(MPI_Comm group, double patience_seconds) : group_(group), patience_(patience_seconds) {
  MPI_Comm_rank(group_, &rank_);
  MPI_Comm_size(group_, &ranks_);
  listen();
}

Alarm::~Alarm() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (finalised || lost_) return;
  if (bell_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&bell_);
    MPI_Wait(&bell_, MPI_STATUS_IGNORE);
  }
  free_unused();
  if (epoch_ == 0) MPI_Comm_free(&group_);
}

void Alarm::retire(MPI_Comm communicator, int epoch) noexcept {
  if (epoch != epoch_) return;
  try {
    retired_.push_back(communicator);
  } catch (const std::bad_alloc&) {  // it stays
  }
}

void Alarm::free_unused() noexcept {
  for (MPI_Comm& communicator : retired_) MPI_Comm_free(&communicator);
  retired_.clear();
  std::erase_if(device_work_, [](const auto& work) { return work.use_count() == 1; });
}

int Alarm::tag(int which) const { return tags_of_epoch * (epoch_ % epochs_with_tags) + which; }

void Alarm::listen() {
  rang_ = settled_ = false;
  MPI_Irecv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, tag(bell_tag), group_, &bell_);
}

bool Alarm::rings() {
  if (rang_) return true;
  int flag = 0;
  MPI_Test(&bell_, &flag, MPI_STATUS_IGNORE);
  return rang_ = flag != 0;
}

void Alarm::give_up() {
  settle();
  throw RankFailed();
}

void Alarm::hear() {
  if (rings()) give_up();
}

void Alarm::raise() noexcept {
  if (rings()) return;  // everyone has heard it
  rang_ = true;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (rank == rank_) continue;
    MPI_Request sent = MPI_REQUEST_NULL;
    if (MPI_Isend(nullptr, 0, MPI_BYTE, rank, tag(bell_tag), group_, &sent) == MPI_SUCCESS) MPI_Request_free(&sent);
  }
}

void Alarm::settle() noexcept {
  if (settled_) return;
  settled_ = true;
  raise();
  for (Messages* messages : travelling_) messages->call_back();
  travelling_.clear();
  for (const auto& work : device_work_) work->call_off();
  for (const auto& work : device_work_) work->come_to_rest();
  MPI_Request meeting = MPI_REQUEST_NULL;
  lost_ = MPI_Ibarrier(group_, &meeting) != MPI_SUCCESS;
  int met = 0;
  for (const Stopwatch waiting; !lost_ && !met;)
    lost_ = MPI_Test(&meeting, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
            (!met && patience_ > 0 && waiting.seconds() > patience_ + seconds_after_patience);
}

void Alarm::exchange(const Ranks& among, const Exchange& e) {
  const auto check = [this](int code, const char* what) {
    if (checked_) check_mpi(code, what);
  };
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Messages messages(*this, requests, 1);
  messages.begin();
  const auto count = [&](int rank) { return rank == MPI_PROC_NULL ? 0 : e.count; };  // MPI looks at the buffer of none
  check(MPI_Irecv(e.received, count(e.from), e.type, e.from, e.tag, among.communicator, &requests[0]), "MPI_Irecv");
  check(MPI_Isend(e.sent, count(e.to), e.type, e.to, e.tag, among.communicator, &requests[1]), "MPI_Isend");
  check(messages.wait(limit_), "MPI_Testall");
}

void Alarm::meet(const Ranks& among, int tag) {
  int nothing = 0;
  combine(
      among, std::span<int>(&nothing, 1), [](int, int) { return 0; }, tag);
}

// A rank that fails in the first meeting does not come to the second. Nothing that fails in the second counts.
void Alarm::enter(const Ranks& among) {
  meet(among);
  checked_ = false;
  meet(among);
  checked_ = true;
}

MPI_Comm Alarm::fresh_communicator(int key) const {
  MPI_Comm fresh = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(group_, 0, key, &fresh), "MPI_Comm_split");
  check_mpi(MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return fresh;
}

bool Alarm::is_awaited(const Ranks& among) {
  int flag = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, combine_tag, among.communicator, &flag, MPI_STATUS_IGNORE);
  return flag != 0 || rings();
}

// Whether all ranks ended as this one did; then twice together, as in `enter`.
bool Alarm::all_ended(Ending mine) {
  const Ranks all{group_, rank_, ranks_};
  std::array<int, 2> extremes{int(mine), -int(mine)};
  // An Error is alike on all ranks, unless the others do not come in this time.
  limit_ = mine == Ending::alike ? seconds_for_others : for_ever;
  combine(
      all, std::span<int>(extremes), [](int a, int b) { return std::max(a, b); }, tag(first_ending_tag));
  limit_ = for_ever;
  checked_ = false;
  meet(all, tag(second_ending_tag));
  return extremes[0] == -extremes[1];
}

// Where there is no memory for the text it stays empty.
Alarm::Failure Alarm::failure_of_current_exception(int rank) noexcept {
  Failure failure{ErrorKind::memory, {}};
  try {
    try {
      throw;
    } catch (const LocalError& error) {
      failure.kind = error.kind();
      failure.text = "rank " + std::to_string(rank) + ": " + error.what();
    } catch (const Error& error) {
      failure.kind = error.kind();
      failure.text = error.what();
    } catch (const std::exception& error) {
      const FailureWords words = words_of_failure(error);
      failure.kind = words.kind;
      failure.text = "rank " + std::to_string(rank) + ": " + words.text;
    } catch (...) {
      failure.kind = ErrorKind::internal;
      failure.text = "rank " + std::to_string(rank) + ": an exception of no known kind";
    }
  } catch (...) {  // no memory for the text
  }
  return failure;
}

// The failure of the lowest rank that has one. All ranks have met, and MPI's own collectives are safe.
Alarm::Failure Alarm::agreed_failure(const std::optional<Failure>& mine) {
  Failure failure = mine.value_or(Failure{});
  int first = mine ? rank_ : ranks_;
  int code = MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, group_);
  if (first == ranks_) first = 0;  // each waited in vain for another
  std::array<int, 2> kind_and_length{int(failure.kind), int(failure.text.size())};
  if (code == MPI_SUCCESS) code = MPI_Bcast(kind_and_length.data(), 2, MPI_INT, first, group_);
  failure.text.resize(std::size_t(kind_and_length[1]));
  if (code == MPI_SUCCESS) code = MPI_Bcast(failure.text.data(), kind_and_length[1], MPI_CHAR, first, group_);
  lost_ = code != MPI_SUCCESS;
  failure.kind = ErrorKind(kind_and_length[0]);
  if (failure.text.empty()) failure.text = "rank " + std::to_string(first) + ": out of memory";
  return failure;
}

int Alarm::guard(const std::function<int()>& work, const std::function<void()>& repair) {
  if (lost_) throw Error(ErrorKind::state, "context", "ranks that answer", "none since a failure before");
  int status = 0;
  Ending ending = Ending::well;
  std::optional<Failure> failure;
  std::exception_ptr thrown;
  const auto fail = [&](Ending how) {
    ending = how;
    if (!failure) failure = failure_of_current_exception(rank_);
    thrown = std::current_exception();
  };
  const auto run = [&](const auto& part) {  // no std::function, which might find no memory
    try {
      part();
    } catch (const RankFailed&) {
      ending = Ending::alone;
    } catch (const LocalError&) {
      fail(Ending::alone);
    } catch (const Error&) {
      fail(Ending::alike);
    } catch (...) {
      fail(Ending::alone);
    }
  };
  bool same = false;
  run([&] { status = work(); });
  if (ending != Ending::alone) run([&] { same = all_ended(ending); });
  limit_ = for_ever;
  checked_ = true;
  if (same && ending != Ending::alone) {
    free_unused();
    if (thrown) std::rethrow_exception(thrown);
    return status;
  }
  settle();
  if (!lost_) failure = agreed_failure(failure);
  if (lost_) throw Error(ErrorKind::mpi, failure ? failure->text : RankFailed().what());
  if (bell_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&bell_);
    MPI_Wait(&bell_, MPI_STATUS_IGNORE);
  }
  ++epoch_;
  retired_.clear();
  device_work_.clear();
  listen();
  try {
    repair();
  } catch (...) {
    lost_ = true;
  }
  throw Error(failure->kind, failure->text);
}

}  // namespace staghorn
