// Bits that change in the middle of a solve, on request, so that tests see what notices. Private to this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "solver/krylov/even_odd.hpp"
#include "solver/request/injection.hpp"

namespace staghorn {

class InjectedBits {
 public:
  // `request.inject`, which may be empty.
  explicit InjectedBits(std::vector<Injection> injections) : left_(std::move(injections)) {}

  // Changes the bits whose iteration has come, in what `pass` works on; each is changed on one rank. Called on every
  // rank with the same numbers. Local.
  void strike(EvenOddPass& pass, long iteration);

  const std::vector<std::string>& struck() const { return struck_; }  // "link at iteration 40, bit 123"

 private:
  std::vector<Injection> left_;
  std::vector<std::string> struck_;
};

}  // namespace staghorn
