// Work of the library in a Python process. Every process works by itself, under mpirun too, and calls no function of
// MPI: communicators here are Communicator().
#pragma once

#include <nanobind/nanobind.h>

#include "halo/watch/arithmetic.hpp"
#include "halo/watch/forked.hpp"

namespace staghorn::python {

// Runs `work` without the interpreter, whose other threads run meanwhile: in the arithmetic of all calls, and in a
// child that was forked on a thread of its own.
template <class Work>
auto without_interpreter(const Work& work) {
  const nanobind::gil_scoped_release others_may_run;
  return with_living_threads([&] {
    const TeamArithmetic arithmetic;
    return work();
  });
}

// Lets Ctrl-C stop long work, which calls this every now and then without the interpreter.
inline void check_interrupt() {
  const nanobind::gil_scoped_acquire interpreter;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace staghorn::python
