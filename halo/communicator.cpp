#include "halo/communicator.hpp"

#include <cmath>
#include <exception>
#include <limits>
#include <utility>

#include "halo/error.hpp"

namespace staghorn {

MpiSession::MpiSession() : owner_(false) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (initialised) return;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw Error("MPI could not be initialised");
  owner_ = true;
}

MpiSession::~MpiSession() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (owner_ && !finalised) MPI_Finalize();
}

void check_mpi(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(std::string(what) + ": " + std::string(text, length));
}

Communicator::Communicator(MPI_Comm parent) {
  check_mpi(MPI_Comm_dup(parent, &handle_), "MPI_Comm_dup");
  check_mpi(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check_mpi(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
}

Communicator::~Communicator() {
  int finalised = 0;
  MPI_Finalized(&finalised);
  if (handle_ != MPI_COMM_NULL && !finalised) MPI_Comm_free(&handle_);
}

Communicator::Communicator(Communicator&& other) noexcept
    : handle_(std::exchange(other.handle_, MPI_COMM_NULL)), rank_(other.rank_), size_(other.size_) {}

int Communicator::rank_on_host() const {
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  int rank = 0;
  MPI_Comm_rank(host, &rank);
  MPI_Comm_free(&host);
  return rank;
}

void Communicator::barrier() const { check_mpi(MPI_Barrier(handle_), "MPI_Barrier"); }

void Communicator::sum(std::span<std::int64_t> values) const {
  if (size_ == 1) return;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_INT64_T, MPI_SUM, handle_),
            "MPI_Allreduce");
}

std::int64_t Communicator::sum(std::int64_t value) const {
  sum({&value, 1});
  return value;
}

void Communicator::sum(std::span<double> values) const {
  if (size_ == 1) return;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), int(values.size()), MPI_DOUBLE, MPI_SUM, handle_),
            "MPI_Allreduce");
}

std::uint32_t Communicator::exclusive_or(std::uint32_t value) const {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT32_T, MPI_BXOR, handle_), "MPI_Allreduce");
  return value;
}

double Communicator::max(double value) const {
  double pair[2] = {std::isnan(value) ? 1.0 : 0.0, std::isnan(value) ? 0.0 : value};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, pair, 2, MPI_DOUBLE, MPI_MAX, handle_), "MPI_Allreduce");
  return pair[0] > 0 ? std::numeric_limits<double>::quiet_NaN() : pair[1];
}

bool Communicator::any(bool value) const {
  int flag = value;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &flag, 1, MPI_INT, MPI_LOR, handle_), "MPI_Allreduce");
  return flag != 0;
}

void Communicator::broadcast(void* data, std::size_t bytes) const {
  check_mpi(MPI_Bcast(data, int(bytes), MPI_BYTE, 0, handle_), "MPI_Bcast");
}

std::string Communicator::broadcast(const std::string& text) const {
  std::uint64_t length = text.size();
  broadcast(&length, sizeof length);
  std::string result = text;
  result.resize(length);
  broadcast(result.data(), length);
  return result;
}

void Communicator::agree(const std::function<void()>& work) const {
  std::string message;
  bool failed = false;
  try {
    work();
  } catch (const std::exception& error) {
    failed = true;
    message = error.what();
  }
  int first = failed ? rank_ : size_;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, handle_), "MPI_Allreduce");
  if (first == size_) return;
  int length = int(message.size());
  check_mpi(MPI_Bcast(&length, 1, MPI_INT, first, handle_), "MPI_Bcast");
  message.resize(length);
  check_mpi(MPI_Bcast(message.data(), length, MPI_CHAR, first, handle_), "MPI_Bcast");
  throw Error(message);
}

}  // namespace staghorn
