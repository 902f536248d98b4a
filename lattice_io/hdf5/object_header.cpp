#include "lattice_io/hdf5/object_header.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/hdf5/btree.hpp"

namespace staghorn {

namespace {

constexpr std::uint64_t longest_block = std::uint64_t{64} << 20;  // bytes of metadata that are read at once
constexpr std::size_t most_messages = 1 << 16;
constexpr std::size_t most_continuations = 1 << 12;

struct Block {
  std::uint64_t address, bytes;
};

// Takes one message after the other. Version 2 headers have shorter ones, and maybe a creation order.
struct MessageForm {
  bool version_2;
  bool creation_order;
  std::uint64_t prefix_bytes() const { return version_2 ? (creation_order ? 6 : 4) : 8; }
};

void take_messages(MetadataBytes& from, std::uint64_t end, const MessageForm& form, std::vector<Hdf5Message>& messages,
                   std::vector<Block>& continuations) {
  while (end - from.at() >= form.prefix_bytes()) {
    const int type = int(from.number(form.version_2 ? 1 : 2));
    const std::uint64_t bytes = from.number(2), flags = from.number(1);
    from.skip(form.version_2 ? (form.creation_order ? 2 : 0) : 3);
    if (bytes > end - from.at())
      throw FileError(from.what() + " is damaged: message", "at most " + std::to_string(end - from.at()) + " bytes",
                      bytes);
    MetadataBytes body = from.part(bytes, from.what());
    if (type == Hdf5Message::continuation) {
      const std::uint64_t address = body.address(), length = body.number(8);
      continuations.push_back({address, length});
    } else {
      messages.push_back({type, (flags & 2) != 0, std::move(body)});
    }
    if (messages.size() > most_messages || continuations.size() > most_continuations)
      throw FileError(from.what() + " is damaged", "fewer messages", "more than " + std::to_string(most_messages));
  }
}

}  // namespace

Hdf5File::Hdf5File(const std::string& path) : file_(PosixFile::open_to_read(path)) {
  const std::string what = path + ": HDF5 superblock";
  constexpr std::int64_t longest_superblock = 96;
  refuse_foreign_content(file_, "an HDF5 file");
  const std::optional<std::int64_t> start = find_hdf5(file_);
  if (!start) throw FileError(path, "an HDF5 file", first_bytes(file_));
  base_ = *start;
  MetadataBytes bytes(file_.read_text(base_, std::min(longest_superblock, file_.size() - base_)), what);
  bytes.skip(hdf5_signature.size());
  const std::uint64_t version = bytes.require_number(1, "version", 0, 3);
  std::uint64_t stored_base = 0, end = 0;
  if (version >= 2) {
    bytes.require_number(1, "bytes of an address", 8, 8);
    bytes.require_number(1, "bytes of a length", 8, 8);
    bytes.skip(1);
    stored_base = bytes.require_number(8, "base address", 0, std::uint64_t(base_));
    bytes.skip(8);
    end = bytes.address();
    root_ = bytes.address();
    bytes.require_checksum();
  } else {
    bytes.skip(4);
    bytes.require_number(1, "bytes of an address", 8, 8);
    bytes.require_number(1, "bytes of a length", 8, 8);
    bytes.skip(version == 0 ? 9 : 13);
    stored_base = bytes.require_number(8, "base address", 0, std::uint64_t(base_));
    bytes.skip(8);
    end = bytes.address();
    bytes.skip(16);
    root_ = bytes.address();
  }
  end += std::uint64_t(base_) - stored_base;  // it counts from the start of the file
  if (end > std::uint64_t(file_.size()))
    throw FileError(path + " is truncated", std::to_string(end) + " bytes", std::to_string(file_.size()) + " bytes");
}

std::int64_t Hdf5File::offset(std::uint64_t address, std::uint64_t n_bytes, const std::string& what) const {
  const auto size = std::uint64_t(file_.size() - base_);
  if (address > size || n_bytes > size - address)
    throw FileError(what + " is damaged", std::to_string(n_bytes) + " bytes within the file",
                    "address " + std::to_string(address) + " in " + std::to_string(size) + " bytes");
  return base_ + std::int64_t(address);
}

MetadataBytes Hdf5File::block(std::uint64_t address, std::uint64_t n_bytes, const std::string& what) const {
  if (n_bytes > longest_block)
    throw FileError(what + " is damaged", "at most " + std::to_string(longest_block) + " bytes", n_bytes);
  return {file_.read_text(offset(address, n_bytes, what), std::int64_t(n_bytes)), what};
}

std::vector<Hdf5Message> Hdf5File::messages(std::uint64_t address, const std::string& what, bool committed) const {
  std::vector<Hdf5Message> messages;
  std::vector<Block> continuations;
  MessageForm form{false, false};
  if (block(address, 4, what).text(4) == "OHDR") {
    // signature | version | flags | times | attribute limits | bytes of messages | messages | checksum
    MetadataBytes start = block(address, 6, what);
    start.skip(4);
    start.require_number(1, "version", 2, 2);
    const std::uint64_t flags = start.number(1);
    form = {true, (flags & 4) != 0};
    const std::uint64_t before_size = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0);
    const int size_bytes = 1 << (flags & 3);
    MetadataBytes prefix = block(address, before_size + std::uint64_t(size_bytes), what);
    prefix.skip(before_size);
    const std::uint64_t first = before_size + std::uint64_t(size_bytes);
    const std::uint64_t bytes = prefix.require_number(size_bytes, "bytes of messages", 0, longest_block - 64);
    MetadataBytes whole = block(address, first + bytes + 4, what);
    MetadataBytes verified = whole;
    verified.skip(first + bytes);
    verified.require_checksum();
    whole.skip(first);
    take_messages(whole, first + bytes, form, messages, continuations);
  } else {
    // version | reserved | number of messages | references | bytes of messages | padding | messages
    MetadataBytes start = block(address, 16, what);
    start.require_number(1, "version", 1, 1);
    start.skip(7);
    const std::uint64_t bytes = start.require_number(4, "bytes of messages", 0, longest_block);
    MetadataBytes body = block(address + 16, bytes, what);
    take_messages(body, bytes, form, messages, continuations);
  }
  for (std::size_t k = 0; k < continuations.size(); ++k) {
    const Block next = continuations[k];
    MetadataBytes body = block(next.address, next.bytes, what + ", continued");
    std::uint64_t end = next.bytes;
    if (form.version_2) {
      if (end < 8) throw FileError(what + " is damaged: continuation", "at least 8 bytes", end);
      end -= 4;
      MetadataBytes verified = body;
      verified.skip(end);
      verified.require_checksum();
      body.require_text("OCHK");
    }
    take_messages(body, end, form, messages, continuations);
  }
  if (committed)
    for (Hdf5Message& message : messages)
      if (message.shared && message.type == Hdf5Message::datatype)
        message = {message.type, false, committed_type(std::move(message.bytes))};
  return messages;
}

// version | kind | reserved (version 1) | address of an object with the message
MetadataBytes Hdf5File::committed_type(MetadataBytes reference) const {
  constexpr std::uint64_t in_an_object = 2;  // of version 3; 1: in a heap of messages
  const std::uint64_t version = reference.require_number(1, "version of a shared message", 1, 3);
  const std::uint64_t kind = reference.number(1);
  if (version == 3 && kind != in_an_object)
    throw FileError(reference.what(), "a type of its own, or a committed one",
                    "one in a table of shared messages; h5repack writes it into the header");
  reference.skip(version == 1 ? 6 : 0);
  for (Hdf5Message& message : messages(reference.address(), path() + ": HDF5 committed type", false))
    if (message.type == Hdf5Message::datatype && !message.shared) return std::move(message.bytes);
  throw FileError(reference.what() + " is damaged: committed type", "a type", "none");
}

std::map<std::string, std::uint64_t> Hdf5File::members(std::uint64_t group, const std::string& name) const {
  const std::string what = path() + ": HDF5 " + name;
  std::map<std::string, std::uint64_t> members;
  for (Hdf5Message& message : messages(group, what)) {
    MetadataBytes& bytes = message.bytes;
    if (message.type == Hdf5Message::symbol_table) {
      const std::uint64_t tree = bytes.address(), heap = bytes.address();
      members.merge(read_symbol_table(*this, tree, heap, what));
    } else if (message.type == Hdf5Message::link) {
      bytes.require_number(1, "version of a link", 1, 1);
      const std::uint64_t flags = bytes.number(1), type = flags & 8 ? bytes.number(1) : 0;
      bytes.skip((flags & 4 ? 8 : 0) + (flags & 0x10 ? 1 : 0));
      const std::string name = bytes.text(bytes.number(1 << (flags & 3)));
      if (type == 0) members[name] = bytes.address();
    } else if (message.type == Hdf5Message::link_info) {
      bytes.require_number(1, "version of link information", 0, 0);
      const std::uint64_t flags = bytes.number(1);
      bytes.skip(flags & 1 ? 8 : 0);
      if (bytes.address() != undefined_address)
        throw FileError(what, "at most a few datasets in the file",
                        "an index of many; copy the dataset into a new file");
    }
  }
  return members;
}

namespace {

bool is_group(const std::vector<Hdf5Message>& messages) {
  return std::any_of(messages.begin(), messages.end(), [](const Hdf5Message& message) {
    return message.type == Hdf5Message::symbol_table || message.type == Hdf5Message::link ||
           message.type == Hdf5Message::link_info;
  });
}

std::string names_of(const std::map<std::string, std::uint64_t>& members, const std::string& group) {
  std::string names;
  for (const auto& [name, address] : members)
    names += (names.empty() ? "" : ", ") + group + printable(name.substr(0, 64));
  return names.empty() ? "none" : names;
}

}  // namespace

std::vector<Hdf5Message> Hdf5File::object(const std::string& name, const std::string& advice) const {
  const auto fail = [&](const std::string& found) {
    throw FileError(path(), "an HDF5 dataset " + name, found + advice);
  };
  std::map<std::string, std::uint64_t> found = members(root_, "root group");
  std::string group;  // where `found` is: "a/b/"
  for (std::size_t begin = name.starts_with('/'), slash = 0;; begin = slash + 1) {
    slash = name.find('/', begin);
    const std::string step = name.substr(begin, slash - begin), here = group + step;
    if (!found.count(step)) fail(names_of(found, group));
    const std::uint64_t address = found.at(step);
    std::vector<Hdf5Message> messages_here = messages(address, path() + ": HDF5 dataset " + here);
    const bool group_here = is_group(messages_here), last = slash == std::string::npos;
    if (!group_here && last) return messages_here;
    if (!group_here) fail("a dataset " + here);
    group = here + "/";
    found = members(address, "group " + here);
    if (last) fail("a group with " + names_of(found, group));
  }
}

std::vector<std::string> Hdf5File::members_of(const std::string& name) const {
  std::map<std::string, std::uint64_t> found = members(root_, "root group");
  for (std::size_t begin = name.starts_with('/'); begin <= name.size();) {
    const std::size_t slash = std::min(name.find('/', begin), name.size());
    const auto member = found.find(name.substr(begin, slash - begin));
    if (member == found.end()) return {};
    const std::uint64_t address = member->second;
    const std::string what = "group " + name.substr(0, slash);
    if (!is_group(messages(address, path() + ": HDF5 " + what))) return {};
    found = members(address, what);
    begin = slash + 1;
  }
  std::vector<std::string> names;
  for (const auto& [member, address] : found) names.push_back(member);
  return names;
}

}  // namespace staghorn
