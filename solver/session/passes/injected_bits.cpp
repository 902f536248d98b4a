#include "solver/session/passes/injected_bits.hpp"

#include <algorithm>

#include "dirac/algebra/philox.hpp"

namespace staghorn {

void InjectedBits::strike(EvenOddPass& pass, long iteration) {
  for (const Injection& injection : left_) {
    if (iteration < injection.iteration) continue;
    // A random number for each question: which rank, which operator or vector, which bit.
    std::uint64_t state = injection.seed;
    const auto draw = [&] {
      state += 0x9e3779b97f4a7c15ull;  // splitmix64 [Steele, Lea & Flood 2014]
      std::uint64_t z = state;
      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
      z = (z ^ z >> 27) * 0x94d049bb133111ebull;
      return z ^ z >> 31;
    };
    const KrylovSolver::Parts parts = pass.parts();
    const Communicator& all = parts.operators.back()->communicator();
    const std::uint64_t rank = draw() % std::uint64_t(all.size()), which = draw(), bit = draw();
    struck_.push_back(to_string(injection) + " met iteration " + std::to_string(iteration));
    if (int(rank) != all.rank()) continue;
    if (injection.what == Injection::vector)
      parts.vectors[which % parts.vectors.size()]->flip_bit(bit);
    else
      parts.operators[which % parts.operators.size()]->damage(
          injection.what == Injection::link   ? StaggeredOperator::Damage::link
          : injection.what == Injection::halo ? StaggeredOperator::Damage::halo
                                              : StaggeredOperator::Damage::sum,
          bit);
  }
  std::erase_if(left_, [&](const Injection& injection) { return iteration >= injection.iteration; });
}

}  // namespace staghorn
