// The right to write to a name, which one thread of all processes holds at a time. Local.
//
// It is a file beside the one to be written, .NAME.lock, that says who holds it. A lock whose owner is over is removed
// by the next one who wants it. A process sees that of owners on its own host alone: a lock of another host stays until
// that host or a person removes it.
//
// How it is removed: several may see the same dead lock. Only the one that holds the lock .NAME.lock.after-M, where M
// is the mark of the dead owner, may remove it, after a second look. No two owners have the same mark, so one who comes
// late finds another lock at the second look. That lock may itself be left by a process that was killed, and is removed
// in the same way.
#pragma once

#include <optional>
#include <string>

namespace staghorn {

class NameLock {
 public:
  NameLock() = default;  // of nothing
  // Takes the lock of the file `target`, which need not exist; its folder must. The thread that holds it may take it
  // again. Throws FileError, which calls the file `path`, where another thread or process holds it.
  NameLock(const std::string& path, const std::string& target);
  // The same, or nothing where another holds it; `held_by` then says who.
  static std::optional<NameLock> take_if_free(const std::string& path, const std::string& target, std::string& held_by);
  // The thread that took it first gives it up here.
  ~NameLock();
  NameLock(NameLock&& other) noexcept;
  NameLock& operator=(NameLock&& other) noexcept;

  const std::string& file() const { return file_; }  // .NAME.lock
  bool was_held() const { return text_.empty(); }    // by this thread, before

 private:
  std::string file_, text_;
  int process_ = 0;  // that made it: a child after a fork does not remove it
};

}  // namespace staghorn
