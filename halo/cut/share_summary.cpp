#include "halo/cut/share_summary.hpp"

namespace staghorn {

AskedShares parse_asked_shares(const std::string& text) {
  AskedShares shares;
  if (text == "auto")
    shares.automatic = true;
  else
    static_cast<Shares&>(shares) = parse_shares(text);
  return shares;
}

}  // namespace staghorn
