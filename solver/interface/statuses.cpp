#include "solver/interface/statuses.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "halo/watch/failure_words.hpp"

namespace staghorn {

namespace {

// By the numbers of ErrorKind.
constexpr std::array statuses{STAGHORN_E_VALUE,    STAGHORN_E_ARGUMENT, STAGHORN_E_LAYOUT, STAGHORN_E_MEMORY,
                              STAGHORN_E_DEVICE,   STAGHORN_E_MPI,      STAGHORN_E_STATE,  STAGHORN_E_UNSUPPORTED,
                              STAGHORN_E_INTERNAL, STAGHORN_E_FILE};
static_assert(statuses.size() == std::size_t(ErrorKind::file) + 1);

constexpr std::pair<int, const char*> status_texts[] = {
    {STAGHORN_OK, "solved, and checked"},
    {STAGHORN_NOT_CONVERGED, "not converged: the iterations are used up"},
    {STAGHORN_STAGNATED, "stagnated: the precision gives no better solution"},
    {STAGHORN_BREAKDOWN, "breakdown: no direction of descent, or an overflow"},
    {STAGHORN_STOPPED, "stopped by the progress function"},
    {STAGHORN_WITHHELD, "withheld by the withhold function: nothing is written"},
    {STAGHORN_E_ARGUMENT, "an argument makes no sense"},
    {STAGHORN_E_LAYOUT, "extents, grid, ranks or strides do not fit together"},
    {STAGHORN_E_VALUE, "a field or a number is not what it must be"},
    {STAGHORN_E_MEMORY, "out of memory"},
    {STAGHORN_E_DEVICE, "a GPU is missing or failed"},
    {STAGHORN_E_MPI, "MPI is missing or failed"},
    {STAGHORN_E_STATE, "a handle was destroyed, is in use, or belongs elsewhere"},
    {STAGHORN_E_UNSUPPORTED, "not supported yet"},
    {STAGHORN_E_INTERNAL, "a fault of Staghorn"},
    {STAGHORN_E_FILE, "a file cannot be read or written, or does not hold what it must"}};

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

int status_of(ErrorKind kind) { return statuses[std::size_t(kind)]; }

ErrorKind kind_of(int status) {
  const auto found = std::find(statuses.begin(), statuses.end(), status);
  return found == statuses.end() ? ErrorKind::internal : ErrorKind(found - statuses.begin());
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
  for (const auto& [known, text] : staghorn::status_texts)
    if (known == status) return text;
  return "no status of Staghorn";
}
