#include "solver/interface/statuses.hpp"

#include <new>

#include "halo/watch/failure_words.hpp"

namespace staghorn {

namespace {

constexpr const char* no_memory_for_text = "out of memory";

struct LastError {
  std::string text;
  const char* fallback = nullptr;  // where there was no memory for the text
};

LastError& last_error() {
  static thread_local LastError error;
  return error;
}

void keep(const char* text) noexcept {
  LastError& error = last_error();
  error.fallback = nullptr;
  try {
    error.text = text;
  } catch (...) {
    error.fallback = no_memory_for_text;
  }
}

}  // namespace

int status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::value:
      return STAGHORN_E_VALUE;
    case ErrorKind::argument:
      return STAGHORN_E_ARGUMENT;
    case ErrorKind::layout:
      return STAGHORN_E_LAYOUT;
    case ErrorKind::memory:
      return STAGHORN_E_MEMORY;
    case ErrorKind::device:
      return STAGHORN_E_DEVICE;
    case ErrorKind::mpi:
      return STAGHORN_E_MPI;
    case ErrorKind::state:
      return STAGHORN_E_STATE;
    case ErrorKind::unsupported:
      return STAGHORN_E_UNSUPPORTED;
    case ErrorKind::file:
      return STAGHORN_E_FILE;
    case ErrorKind::internal:
      break;
  }
  return STAGHORN_E_INTERNAL;
}

ErrorKind kind_of(int status) {
  for (int kind = 0; kind <= int(ErrorKind::file); ++kind)
    if (status_of(ErrorKind(kind)) == status) return ErrorKind(kind);
  return ErrorKind::internal;
}

int status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::certified:
      return STAGHORN_OK;
    case Outcome::out_of_iterations:
      return STAGHORN_NOT_CONVERGED;
    case Outcome::stagnated:
      return STAGHORN_STAGNATED;
    case Outcome::breakdown:
      break;
  }
  return STAGHORN_BREAKDOWN;
}

int status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    keep(error.what());
    return status_of(error.kind());
  } catch (const std::bad_alloc&) {
    keep(no_memory_for_text);
    return STAGHORN_E_MEMORY;
  } catch (const std::exception& error) {
    try {
      const FailureWords words = words_of_failure(error);
      keep(words.text.c_str());
      return status_of(words.kind);
    } catch (...) {  // no memory for the text
      keep(no_memory_for_text);
    }
  } catch (...) {
    keep("an exception of unknown type");
  }
  return STAGHORN_E_INTERNAL;
}

const char* last_error_text() noexcept {
  const LastError& error = last_error();
  return error.fallback ? error.fallback : error.text.c_str();
}

}  // namespace staghorn

int staghorn_version(void) { return STAGHORN_VERSION; }

const char* staghorn_last_error(void) { return staghorn::last_error_text(); }

const char* staghorn_status_text(int status) {
  switch (status) {
    case STAGHORN_OK:
      return "solved, and checked";
    case STAGHORN_NOT_CONVERGED:
      return "not converged: the iterations are used up";
    case STAGHORN_STAGNATED:
      return "stagnated: the precision gives no better solution";
    case STAGHORN_BREAKDOWN:
      return "breakdown: no direction of descent, or an overflow";
    case STAGHORN_STOPPED:
      return "stopped by the progress function";
    case STAGHORN_WITHHELD:
      return "withheld by the withhold function: nothing is written";
    case STAGHORN_E_ARGUMENT:
      return "an argument makes no sense";
    case STAGHORN_E_LAYOUT:
      return "extents, grid, ranks or strides do not fit together";
    case STAGHORN_E_VALUE:
      return "a field or a number is not what it must be";
    case STAGHORN_E_MEMORY:
      return "out of memory";
    case STAGHORN_E_DEVICE:
      return "a GPU is missing or failed";
    case STAGHORN_E_MPI:
      return "MPI is missing or failed";
    case STAGHORN_E_STATE:
      return "a handle was destroyed, is in use, or belongs elsewhere";
    case STAGHORN_E_UNSUPPORTED:
      return "not supported yet";
    case STAGHORN_E_INTERNAL:
      return "a fault of Staghorn";
    case STAGHORN_E_FILE:
      return "a file cannot be read or written, or does not hold what it must";
    default:
      return "no status of Staghorn";
  }
}
