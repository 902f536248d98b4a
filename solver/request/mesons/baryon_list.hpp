// Which baryons are asked for. Local.
#pragma once

#include <string>
#include <vector>

namespace staghorn {

enum class Baryon { nucleon, delta };
std::string to_string(Baryon baryon);

// "nucleon", "delta" between commas. Throws Error naming the choices.
std::vector<Baryon> parse_baryons(const std::string& text);

}  // namespace staghorn
