// One piece of a vocabulary, as it is written into the two files of a model; and fields of messages.
//
// The entries of the model are serialized here, because protobuf needs a Python object for each.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/containers/hash.hpp"
#include "spmcompat/containers/slot_index.hpp"

namespace spmcompat {

inline void append_varint(uint64_t value, std::string& message) {
  for (; value >= 0x80; value >>= 7) message.push_back(static_cast<char>(value | 0x80));
  message.push_back(static_cast<char>(value));
}

// The tag of a field: its number and its wire type (0: varint, 2: bytes, 5: four bytes).
inline void append_tag(int field, int wire_type, std::string& message) {
  append_varint(static_cast<uint64_t>(field << 3 | wire_type), message);
}

inline void append_bytes(int field, std::string_view bytes, std::string& message) {
  append_tag(field, 2, message);
  append_varint(bytes.size(), message);
  message.append(bytes);
}

inline void append_whole(int field, uint64_t number, std::string& message) {
  append_tag(field, 0, message);
  append_varint(number, message);
}

inline void append_float(int field, float number, std::string& message) {
  append_tag(field, 5, message);
  uint32_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  for (int shift = 0; shift < 32; shift += 8) message.push_back(static_cast<char>(bits >> shift));
}

// An entry of ModelProto.pieces. A type of 0 is not written.
inline void append_entry(std::string_view piece, float score, int type, std::string& model) {
  std::string entry;
  append_bytes(1, piece, entry);
  append_float(2, score, entry);
  if (type != 0) append_whole(3, static_cast<uint64_t>(type), entry);
  append_bytes(1, entry, model);
}

// The pieces of a vocabulary, to find one that occurs twice. They must outlive the set.
class PieceSet {
 public:
  // Returns whether the piece is a new one.
  bool add(std::string_view piece) {
    const auto size = static_cast<uint32_t>(pieces_.size());
    const uint32_t hash = hash_bytes(piece.data(), piece.size());
    const auto equal = [&](uint32_t known) { return pieces_[known] == piece; };
    if (index_.find_or_insert(hash, size, equal) < size) return false;
    pieces_.push_back(piece);
    return true;
  }

 private:
  std::vector<std::string_view> pieces_;
  SlotIndex index_;
};

// Whether a piece breaks the line that it has in the .vocab file.
inline bool breaks_lines(std::string_view piece) {
  return piece.find_first_of(" \t\r\n") != std::string_view::npos;
}

// A number as C++ streams write it. Unlike in Python, a NaN has a sign.
inline void append_number(float number, std::string& text) {
  if (std::isnan(number)) {  // libc++ would write "nan(ind)"
    text.append(std::signbit(number) ? "-nan" : "nan");
    return;
  }
  char digits[32];
  const auto end =
      std::to_chars(digits, digits + sizeof digits, number, std::chars_format::general, 6);
  text.append(digits, end.ptr);
}

}  // namespace spmcompat
