// The strings of a column of an Arrow batch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/text/arrow_abi.hpp"
#include "spmcompat/text/lines.hpp"

namespace spmcompat {

// How an array stores its strings.
enum class StringLayout { kOther, kNull, kOffsets, kViews };

// The type of an array of strings: their layout, the size of an offset and, if the strings are in a
// dictionary, the size of an index into it and the largest index. Sizes are in bytes.
struct StringType {
  StringLayout layout = StringLayout::kOther;
  int offset = 0;
  int index = 0;
  uint64_t largest_index = 0;

  bool is_readable() const { return layout != StringLayout::kOther; }

  static StringType of(const ArrowSchema& schema) {
    if (schema.dictionary == nullptr) return of_format(schema.format);
    constexpr std::string_view kIntegers = "cCsSiIlL";  // of 1, 1, 2, 2, 4, 4, 8 and 8 bytes
    const size_t integer = kIntegers.find(schema.format);
    if (integer == kIntegers.npos || std::strlen(schema.format) != 1) return {};
    if (schema.dictionary->dictionary != nullptr) return {};
    StringType type = of_format(schema.dictionary->format);
    const bool is_signed = integer % 2 == 0;
    type.index = 1 << integer / 2;
    type.largest_index = UINT64_MAX >> (64 - 8 * type.index + is_signed);
    return type;
  }

 private:
  static StringType of_format(std::string_view format) {
    if (format == "u" || format == "z") return {StringLayout::kOffsets, 4};
    if (format == "U" || format == "Z") return {StringLayout::kOffsets, 8};
    if (format == "vu" || format == "vz") return {StringLayout::kViews};
    if (format == "n") return {StringLayout::kNull};
    return {};
  }
};

// How an array contains its child array: as a field, or as the elements of lists.
enum class NestLayout { kNone, kField, kOffsets, kViews, kFixedSize };

// One level of nesting in a column: the step from an array to its child array.
struct NestLevel {
  NestLayout layout = NestLayout::kNone;
  // The index of the field, the size of an offset in bytes, or the number of elements in a list of
  // fixed size.
  int64_t number = 0;

  bool is_list() const { return layout != NestLayout::kNone && layout != NestLayout::kField; }

  // Returns the level of a list type. For any other type, the layout of the level is kNone.
  static NestLevel of_list(const ArrowSchema& schema) {
    const std::string_view format = schema.format;
    if (schema.dictionary != nullptr || schema.n_children != 1) return {};
    if (format == "+l") return {NestLayout::kOffsets, 4};
    if (format == "+L") return {NestLayout::kOffsets, 8};
    if (format == "+vl") return {NestLayout::kViews, 4};
    if (format == "+vL") return {NestLayout::kViews, 8};
    if (format.substr(0, 3) == "+w:") {
      const long long size = std::strtoll(schema.format + 3, nullptr, 10);
      if (size >= 0) return {NestLayout::kFixedSize, size};
    }
    return {};
  }
};

// The type of a column: the levels from the batch to the strings, and the type of the strings.
struct ColumnType {
  // A limit is needed because the schema of a broken producer could contain itself.
  static constexpr size_t kMostLevels = 64;

  std::vector<NestLevel> levels;
  StringType strings;

  bool is_readable() const { return strings.is_readable(); }

  // Follows a path of fields from a schema, and adds the levels on the way to `levels`. Where a
  // schema on the path or at its end is a list, continues with the elements of the list. Returns
  // the schema at the end, or null if it cannot be reached.
  static const ArrowSchema* follow(const ArrowSchema& schema, const std::vector<int64_t>& path,
                                   std::vector<NestLevel>& levels) {
    const ArrowSchema* at = &schema;
    for (auto field = path.begin(); levels.size() < kMostLevels;) {
      check_schema(*at);
      const NestLevel list = NestLevel::of_list(*at);
      if (list.is_list()) {
        levels.push_back(list);
        at = at->children[0];
      } else if (field == path.end()) {
        return at;
      } else {
        if (*field >= at->n_children) return nullptr;
        levels.push_back({NestLayout::kField, *field});
        at = at->children[*field++];
      }
    }
    return nullptr;
  }

  static ColumnType of(const ArrowSchema& schema, const std::vector<int64_t>& path) {
    ColumnType type;
    const ArrowSchema* end = follow(schema, path, type.levels);
    if (end != nullptr) type.strings = StringType::of(*end);
    return type;
  }
};

inline bool is_struct(const ArrowSchema& schema) {
  return std::string_view(schema.format) == "+s" && schema.dictionary == nullptr;
}

// Returns the struct to which a path of field numbers leads, or null if there is none.
inline const ArrowSchema* struct_at(const ArrowSchema& schema, const std::vector<int64_t>& path) {
  std::vector<NestLevel> levels;
  const ArrowSchema* end = ColumnType::follow(schema, path, levels);
  return end != nullptr && is_struct(*end) ? end : nullptr;
}

// The validity bits and the buffers of an ArrowArray. The constructor checks the pointers and
// numbers in the ArrowArray. An ArrowArray does not contain the sizes of its buffers, so the
// constructor cannot detect a length that is too large or an offset outside the text. Row numbers
// count from the beginning of the buffers, so they include the offset of the array.
class ArrowBuffers {
 public:
  ArrowBuffers() = default;
  ArrowBuffers(const ArrowArray& array, int64_t buffers, int64_t rows) : array_(&array) {
    require(array.offset >= 0 && array.length >= std::max<int64_t>(rows, 0),
            "an array is too short");
    require(array.n_buffers >= buffers, "an array lacks buffers");
    require(array.offset <= kMostRows && array.length <= kMostRows,
            "an array has more rows than memory can hold");
    end_ = array.offset + array.length;
    require(array.n_buffers <= 0 || array.buffers != nullptr, "the list of buffers is missing");
    require(buffers <= 1 || array.length == 0 || array.buffers[1] != nullptr,
            "a buffer is missing");
    if (array.n_buffers > 0 && array.null_count != 0) {
      validity_ = static_cast<const uint8_t*>(array.buffers[0]);
    }
  }

  bool is_valid(int64_t row) const {
    return validity_ == nullptr || ((validity_[row >> 3] >> (row & 7)) & 1) != 0;
  }

  // Reads a value without assuming that its address is aligned.
  template <typename Value>
  Value value(int64_t buffer, int64_t row) const {
    Value found;
    std::memcpy(&found, bytes(buffer) + row * static_cast<int64_t>(sizeof(Value)), sizeof(Value));
    return found;
  }

  // Reads an unsigned integer of 1, 2, 4 or 8 bytes.
  uint64_t number(int64_t buffer, int64_t row, int64_t size) const {
    switch (size) {
      case 1: return value<uint8_t>(buffer, row);
      case 2: return value<uint16_t>(buffer, row);
      case 4: return value<uint32_t>(buffer, row);
      default: return value<uint64_t>(buffer, row);
    }
  }

  const char* bytes(int64_t buffer) const {
    return static_cast<const char*>(array_->buffers[buffer]);
  }

  int64_t first() const { return array_->offset; }
  int64_t end() const { return end_; }
  int64_t buffers() const { return array_->n_buffers; }

 private:
  // The size of the address space in bytes: a larger number of rows cannot be valid.
  static constexpr int64_t kMostRows = int64_t{1} << 48;

  const ArrowArray* array_ = nullptr;
  const uint8_t* validity_ = nullptr;
  int64_t end_ = 0;
};

// An array of strings without a dictionary.
class StringArray {
 public:
  StringArray() = default;
  StringArray(const ArrowArray& array, const StringType& type, int64_t rows)
      : type_(type), buffers_(array, least_buffers(type.layout), rows) {}

  const ArrowBuffers& buffers() const { return buffers_; }

  // Finds the string of a row; returns false if it is null.
  bool find(int64_t row, std::string_view* text) const {
    if (type_.layout == StringLayout::kNull || !buffers_.is_valid(row)) return false;
    *text = type_.layout == StringLayout::kViews
                ? view(row)
                : between(buffers_.number(1, row, type_.offset),
                          buffers_.number(1, row + 1, type_.offset));
    return true;
  }

 private:
  struct View {
    uint32_t size;
    char prefix[4];
    uint32_t buffer, begin;
  };
  static constexpr size_t kInlineBytes = 12;
  static constexpr int64_t kFirstVariadic = 2;

  static int64_t least_buffers(StringLayout layout) {
    switch (layout) {
      case StringLayout::kNull: return 0;
      case StringLayout::kViews: return kFirstVariadic;
      default: return 3;
    }
  }

  // 32-bit offsets are read as unsigned, because some producers write offsets above 2 GiB.
  std::string_view between(uint64_t begin, uint64_t end) const {
    require(end >= begin, "the offsets of a string decrease");
    require(end <= INT64_MAX, "an offset of a string is negative");
    if (end == begin) return {};
    require(buffers_.bytes(2) != nullptr, "a buffer is missing");
    return {buffers_.bytes(2) + begin, static_cast<size_t>(end - begin)};
  }

  std::string_view view(int64_t row) const {
    const View found = buffers_.value<View>(1, row);
    if (found.size <= kInlineBytes) {
      const char* views = buffers_.bytes(1);
      return {views + row * static_cast<int64_t>(sizeof(View)) + sizeof(uint32_t), found.size};
    }
    // The last buffer contains the sizes of the variadic buffers.
    const int64_t variadic = buffers_.buffers() - kFirstVariadic - 1;
    require(found.buffer < variadic, "a view names a missing buffer");
    require(buffers_.bytes(kFirstVariadic + variadic) != nullptr &&
                buffers_.bytes(kFirstVariadic + found.buffer) != nullptr,
            "a buffer is missing");
    const auto size = buffers_.value<int64_t>(kFirstVariadic + variadic, found.buffer);
    require(int64_t{found.begin} + found.size <= size, "a view ends after its buffer");
    return {buffers_.bytes(kFirstVariadic + found.buffer) + found.begin, found.size};
  }

  StringType type_;
  ArrowBuffers buffers_;
};

// A column of a batch. The batch must outlive the column.
class StringColumn {
 public:
  StringColumn() = default;

  StringColumn(const ArrowArray& batch, const ColumnType& type)
      : type_(type.strings), rows_(batch.length) {
    const ArrowArray* array = &batch;
    int64_t rows = rows_;  // the array must have at least this number of rows
    for (const NestLevel& level : type.levels) {
      levels_.push_back({level, ArrowBuffers(*array, least_buffers(level.layout), rows)});
      const int64_t child = level.is_list() ? 0 : level.number;
      require(child < array->n_children && array->children != nullptr &&
                  array->children[child] != nullptr,
              "a batch lacks a column");
      // The child array of a list may have any length: elements_of checks the range of each row.
      rows = level.is_list() ? 0 : array->offset + array->length;
      array = array->children[child];
      levels_.back().elements = array->length;
    }
    if (type_.index == 0) {
      strings_ = StringArray(*array, type_, rows);
      first_ = strings_.buffers().first();
    } else {
      indices_ = ArrowBuffers(*array, 2, rows);
      require(array->dictionary != nullptr, "a dictionary is missing");
      strings_ = StringArray(*array->dictionary, type_, 0);
      first_ = indices_.first();
    }
  }

  int64_t rows() const { return rows_; }

  // Appends strings from `row` on until they fill a read buffer, without CR and LF at their ends
  // unless `keeps_ends`. All strings of a row are appended together. Returns the first row that was
  // not appended. If a string has more than `longest` bytes, only the first `longest` + 1 are
  // appended, and the number of the remaining bytes is added to `dropped`. `ends` receives the end
  // of each string, and `nulls` the number of strings before each null. Each string counts as one
  // byte more than its text, and each null as one byte, so that a buffer of empty strings and nulls
  // becomes full, too.
  int64_t append(int64_t row, size_t most_bytes, size_t longest, bool keeps_ends, std::string& text,
                 std::vector<size_t>& ends, std::vector<size_t>& nulls, size_t& dropped) const {
    while (row < rows_ && text.size() + ends.size() + nulls.size() < most_bytes) {
      for_each_string(0, row++, [&](const std::string_view* found) {
        if (found == nullptr) {
          nulls.push_back(ends.size());
          return;
        }
        const size_t size = keeps_ends ? found->size() : without_line_end(*found).size();
        const size_t kept = kept_of(size, longest);
        dropped += size - kept;
        text.append(found->data(), kept);
        ends.push_back(text.size());
      });
    }
    return row;
  }

 private:
  struct Level {
    NestLevel type;
    ArrowBuffers buffers;
    int64_t elements = 0;  // the length of the child array
  };

  static int64_t least_buffers(NestLayout layout) {
    switch (layout) {
      case NestLayout::kField: return 0;
      case NestLayout::kFixedSize: return 1;
      case NestLayout::kViews: return 3;
      default: return 2;
    }
  }

  // Calls `take` with each string that a row of a level contains. A null at any level becomes a
  // null pointer.
  template <typename Take>
  void for_each_string(size_t level, int64_t row, const Take& take) const {
    if (level == levels_.size()) {
      std::string_view found;
      take(find(row, &found) ? &found : nullptr);
      return;
    }
    const Level& at = levels_[level];
    row += at.buffers.first();
    if (!at.buffers.is_valid(row)) {
      take(nullptr);
    } else if (!at.type.is_list()) {
      for_each_string(level + 1, row, take);
    } else {
      const auto [begin, end] = elements_of(at, row);
      for (int64_t element = begin; element < end; ++element) {
        for_each_string(level + 1, element, take);
      }
    }
  }

  // Returns the index of the first element of a list, and the index after its last element.
  static std::pair<int64_t, int64_t> elements_of(const Level& list, int64_t row) {
    const auto [layout, number] = list.type;
    uint64_t begin, size;
    if (layout == NestLayout::kFixedSize) {
      size = static_cast<uint64_t>(number);
      // If the row is out of range, this value of `begin` is refused below. So the product, which
      // could overflow, is not computed.
      begin = size == 0 || row < list.elements / number ? row * size : UINT64_MAX;
    } else {
      const bool is_view = layout == NestLayout::kViews;
      require(!is_view || list.buffers.bytes(2) != nullptr, "a buffer is missing");
      begin = list.buffers.number(1, row, number);
      size = is_view ? list.buffers.number(2, row, number)
                     : list.buffers.number(1, row + 1, number) - begin;
    }
    const auto elements = static_cast<uint64_t>(list.elements);
    require(begin <= elements && size <= elements - begin, "a list ends after its elements");
    return {static_cast<int64_t>(begin), static_cast<int64_t>(begin + size)};
  }

  bool find(int64_t row, std::string_view* text) const {
    if (type_.index == 0) return strings_.find(first_ + row, text);
    if (!indices_.is_valid(first_ + row)) return false;
    // A negative index becomes a number above `largest_index`.
    const uint64_t index = indices_.number(1, first_ + row, type_.index);
    const ArrowBuffers& dictionary = strings_.buffers();
    require(index <= type_.largest_index &&
                index < static_cast<uint64_t>(dictionary.end() - dictionary.first()),
            "an index is not in its dictionary");
    return strings_.find(dictionary.first() + static_cast<int64_t>(index), text);
  }

  StringType type_;
  int64_t rows_ = 0, first_ = 0;
  std::vector<Level> levels_;
  ArrowBuffers indices_;
  StringArray strings_;
};

}  // namespace spmcompat
