// Text out of the headers of files, which may be damaged: made fit for messages, JSON and attributes. Local.
#pragma once

#include <string>

namespace staghorn {

// `text` as it is if it is UTF-8, else with every byte beyond ASCII as '?'; control characters but line ends and tabs
// become '?' too.
std::string printable(const std::string& text);

}  // namespace staghorn
