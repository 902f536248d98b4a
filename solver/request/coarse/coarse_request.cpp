#include "solver/request/coarse/coarse_request.hpp"

#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

void check_coarse_request(const CoarseRequest& request) {
  if (request.vectors < 1 || request.vectors > CoarseRequest::most_vectors)
    throw Error("vectors", "a number from 1 to " + std::to_string(CoarseRequest::most_vectors), request.vectors);
  if (request.iterations < 1) throw Error("iterations", "a number of at least 1", request.iterations);
}

}  // namespace staghorn
