// A rank that fails alone wakes the ranks that wait for it, so that all of them end the same call with an error and can
// go on afterwards. Contexts of the library have an Alarm; the program has none, for it ends the job instead.
//
// With an Alarm no rank blocks inside MPI: waits look at their own messages and at the alarm. A rank that fails raises
// the alarm. Every rank then calls its receives back, brings its GPU to rest and meets the others (`settle`). From
// there on nothing can arrive any more, so buffers may go. What was sent and not received stays with MPI, and so does
// the communicator that it was sent over: the ranks go on with another one.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halo/watch/error.hpp"

namespace staghorn {

// Thrown out of a wait when another rank has raised the alarm. Only that rank knows why.
class RankFailed : public LocalError {
 public:
  RankFailed() : LocalError(ErrorKind::mpi, "another rank has failed") {}
};

class Alarm {
 public:
  // A set of messages that this rank has begun and that use memory which lives as long as this object. Receives stand
  // first. If it is destroyed while they travel, the alarm is raised and settled. Local.
  class Messages {
   public:
    Messages(Alarm& alarm, std::span<MPI_Request> requests, std::size_t receives);
    ~Messages();
    Messages(const Messages&) = delete;
    Messages& operator=(const Messages&) = delete;

    void begin();            // before the first of them is started
    int wait(double limit);  // until all are done; see Alarm
    int test(bool& done);    // whether they are; does not look at the alarm
    void end();              // all are done, as whoever tests them one by one has seen

   private:
    friend class Alarm;
    void call_back() noexcept;  // the receives

    Alarm& alarm_;
    std::span<MPI_Request> requests_;
    std::size_t receives_;
    bool travelling_ = false;
  };

  // Work of a GPU that waits for other ranks or stores into their memory, with the memory that it uses. Where a rank
  // has failed, first all of it is called off, then the GPU comes to rest, then the ranks meet.
  class DeviceWork {
   public:
    virtual ~DeviceWork() = default;
    virtual void call_off() noexcept = 0;      // on other ranks, too, where that is possible
    virtual void come_to_rest() noexcept = 0;  // returns when the GPU does nothing of it any more
  };
  // Other ranks may still reach memory of `work` when this rank has no more use for it: it goes when all have met.
  // Local.
  void keep(std::shared_ptr<DeviceWork> work) { device_work_.push_back(std::move(work)); }

  static constexpr double for_ever = 0;
  // How long a rank that ends in an Error waits for others that may still come.
  static constexpr double seconds_for_others = 5;

  // `group`: of all ranks concerned. It belongs to this object from now on. After an alarm it waits so many seconds for
  // the other ranks to meet. Collective.
  Alarm(MPI_Comm group, double patience_seconds);
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  // A group of ranks, all of them within that of the alarm.
  struct Ranks {
    MPI_Comm communicator;
    int rank, ranks;
  };
  // A message of `count` items to rank `to` and one from rank `from`, each of which may be MPI_PROC_NULL. Returns when
  // both are done. Throws RankFailed if another rank has raised the alarm.
  struct Exchange {
    int to;
    const void* sent;
    int from;
    void* received;
    int count;
    MPI_Datatype type;
    int tag;
  };
  void exchange(const Ranks& among, const Exchange& messages);

  // Throws RankFailed if another rank has raised the alarm, after all ranks have settled.
  void hear();

  // values[k] = op(values[k], those of the other ranks), with the same bits on every rank if `op` commutes. For few
  // values: log2(ranks) messages each way [recursive doubling]. A rank sends to whom it waits for.
  static constexpr int combine_tag = 30000;  // above the tags of faces, below the least MPI_TAG_UB
  template <class T, class Op>
  void combine(const Ranks& among, std::span<T> values, const Op& op, int tag = combine_tag);

  // Returns when all ranks have called it.
  void meet(const Ranks& among, int tag = combine_tag);
  // The same before a function of MPI that blocks. No rank returns unless all do: a call that fails is heard.
  void enter(const Ranks& among);

  // Whether another rank waits for this one, which is in no call: it has begun to combine values, or has raised the
  // alarm. Local.
  bool is_awaited(const Ranks& among);

  // Runs `work`, which is collective over the group and which returns a status that is the same on all ranks. If it
  // ends in the same way on all of them, that is returned or thrown. If one of them fails alone, all settle, `repair`
  // runs on all of them, and all throw the Error of the lowest rank that failed. Collective.
  int guard(const std::function<int()>& work, const std::function<void()>& repair);

  // Calls that this rank ended alone, since nobody came to them. Ranks compare it in their next call: see agree_alike.
  std::uint64_t calls_alone = 0;

  // Number of failures that were settled. Local.
  int epoch() const { return epoch_; }
  // Takes a communicator of `epoch` over. It is freed after the guard ended in the same way on all ranks. Not if there
  // was a failure: messages may still arrive, and MPI gives the number of a communicator that was freed to a new one.
  // Local.
  void retire(MPI_Comm communicator, int epoch) noexcept;

  // A communicator of all ranks in the order of `key`. Collective.
  MPI_Comm fresh_communicator(int key) const;
  // The ranks did not meet after an alarm: nothing collective can be done any more. Local.
  bool is_lost() const { return lost_; }

 private:
  struct Failure {
    ErrorKind kind = ErrorKind::internal;
    std::string text;
  };
  enum class Ending : int { well, alike, alone };

  void free_unused() noexcept;
  bool rings();
  void listen();
  void raise() noexcept;
  void settle() noexcept;
  [[noreturn]] void give_up();
  bool all_ended(Ending mine);
  static Failure failure_of_current_exception(int rank) noexcept;
  Failure agreed_failure(const std::optional<Failure>& mine);
  int tag(int which) const;

  MPI_Comm group_;
  int rank_ = 0, ranks_ = 1, epoch_ = 0;
  double patience_, limit_ = for_ever;
  bool checked_ = true, rang_ = false, settled_ = false, lost_ = false;
  MPI_Request bell_ = MPI_REQUEST_NULL;
  std::vector<Messages*> travelling_;
  std::vector<MPI_Comm> retired_;
  std::vector<std::shared_ptr<DeviceWork>> device_work_;
  std::vector<std::byte> theirs_;
};

template <class T, class Op>
void Alarm::combine(const Ranks& among, std::span<T> values, const Op& op, int tag) {
  const int bytes = int(values.size_bytes());
  theirs_.resize(values.size_bytes());
  T* theirs = reinterpret_cast<T*>(theirs_.data());
  const auto swap = [&](int other) { exchange(among, {other, values.data(), other, theirs, bytes, MPI_BYTE, tag}); };
  const auto take = [&](int other) {
    swap(other);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = op(values[k], theirs[k]);
  };
  int half = 1;  // the largest power of two that is not above the number of ranks
  while (2 * half <= among.ranks) half *= 2;
  if (among.rank >= half) {  // gives its values, and gets the result
    swap(among.rank - half);
    exchange(among, {MPI_PROC_NULL, nullptr, among.rank - half, values.data(), bytes, MPI_BYTE, tag});
    return;
  }
  const bool has_partner = among.rank + half < among.ranks;
  if (has_partner) take(among.rank + half);
  for (int step = 1; step < half; step *= 2) take(among.rank ^ step);
  if (has_partner) exchange(among, {among.rank + half, values.data(), MPI_PROC_NULL, nullptr, bytes, MPI_BYTE, tag});
}

}  // namespace staghorn
