#include "lattice_io/hdf5/btree.hpp"

#include "halo/watch/error.hpp"
#include "lattice_io/hdf5/object_header.hpp"

namespace staghorn {

namespace {

constexpr std::uint64_t most_members = 10000;  // of a group

// The walk through one tree. Levels go down by one from node to child, so that no node can lead back to itself.
struct Walk {
  const Hdf5File& file;
  int type;
  std::uint64_t key_bytes, most_leaves;
  const std::string& what;
  const std::function<void(MetadataBytes, std::uint64_t)>& visit;
  std::uint64_t leaves = 0, nodes = 0;

  // `level`: what the parent says, or -1 at the root.
  void node(std::uint64_t address, int expected_level) {
    constexpr std::uint64_t header_bytes = 24;
    if (++nodes > most_leaves + 256) throw FileError(what + " is damaged", "a tree of fewer nodes", nodes);
    MetadataBytes header = file.block(address, header_bytes, what);
    header.require_text("TREE");
    header.require_number(1, "type of the tree", std::uint64_t(type), std::uint64_t(type));
    const bool root = expected_level < 0;
    const auto level = int(header.require_number(1, "level of a tree node", root ? 0 : std::uint64_t(expected_level),
                                                 root ? 32 : std::uint64_t(expected_level)));
    const std::uint64_t entries = header.number(2);
    MetadataBytes body = file.block(address + header_bytes, entries * (key_bytes + 8), what);
    for (std::uint64_t k = 0; k < entries; ++k) {
      MetadataBytes key = body.part(key_bytes, what);
      const std::uint64_t child = body.address();
      if (level > 0) {
        node(child, level - 1);
      } else {
        if (++leaves > most_leaves)
          throw FileError(what + " is damaged", "at most " + std::to_string(most_leaves), leaves);
        visit(std::move(key), child);
      }
    }
  }
};

}  // namespace

void walk_btree(const Hdf5File& file, std::uint64_t address, int type, std::uint64_t key_bytes,
                std::uint64_t most_leaves, const std::string& what,
                const std::function<void(MetadataBytes, std::uint64_t)>& visit) {
  Walk{file, type, key_bytes, most_leaves, what, visit}.node(address, -1);
}

std::map<std::string, std::uint64_t> read_symbol_table(const Hdf5File& file, std::uint64_t tree, std::uint64_t heap,
                                                       const std::string& what) {
  MetadataBytes head = file.block(heap, 32, what);
  head.require_text("HEAP");
  head.skip(4);
  const std::uint64_t heap_bytes = head.number(8);
  head.skip(8);
  const std::string names = file.block(head.address(), heap_bytes, what).text(heap_bytes);

  std::map<std::string, std::uint64_t> members;
  walk_btree(file, tree, 0, 8, most_members, what, [&](MetadataBytes, std::uint64_t child) {
    constexpr std::uint64_t entry_bytes = 40;
    MetadataBytes node = file.block(child, 8, what);
    node.require_text("SNOD");
    node.require_number(1, "version of a symbol node", 1, 1);
    node.skip(1);
    const std::uint64_t symbols = node.number(2);
    MetadataBytes entries = file.block(child + 8, symbols * entry_bytes, what);
    for (std::uint64_t k = 0; k < symbols; ++k) {
      const std::uint64_t name_at = entries.number(8), object = entries.address();
      const std::uint64_t cache_type = entries.number(4);
      entries.skip(20);
      const std::size_t name_end = name_at < names.size() ? names.find('\0', name_at) : std::string::npos;
      if (name_end == std::string::npos)
        throw FileError(what + " is damaged: name of a member", "a place in " + std::to_string(names.size()) + " bytes",
                        name_at);
      if (cache_type != 2) members[names.substr(name_at, name_end - name_at)] = object;  // 2: a symbolic link
      if (members.size() > most_members) throw FileError(what + " is damaged", "fewer members", members.size());
    }
  });
  return members;
}

}  // namespace staghorn
