// The strings of a column of an Arrow batch.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/text/arrow_abi.hpp"
#include "spmcompat/text/lines.hpp"

namespace spmcompat {

// How an array stores its strings.
enum class StringLayout { kOther, kNull, kOffsets32, kOffsets64, kViews };

inline StringLayout string_layout(std::string_view format) {
  if (format == "u" || format == "z") return StringLayout::kOffsets32;
  if (format == "U" || format == "Z") return StringLayout::kOffsets64;
  if (format == "vu" || format == "vz") return StringLayout::kViews;
  if (format == "n") return StringLayout::kNull;
  return StringLayout::kOther;
}

// The type of a column: the layout of its strings and, if they are in a dictionary, the format of
// the indices into it.
struct StringType {
  StringLayout layout = StringLayout::kOther;
  char index = '\0';

  bool is_readable() const { return layout != StringLayout::kOther; }

  static StringType of(const ArrowSchema& schema) {
    const std::string_view format = schema.format;
    if (schema.dictionary == nullptr) return {string_layout(format), '\0'};
    if (format.size() != 1 || std::strchr("cCsSiIlL", format[0]) == nullptr) return {};
    if (schema.dictionary->dictionary != nullptr) return {};
    return {string_layout(schema.dictionary->format), format[0]};
  }
};

// The validity bits and the buffers of an array. The constructor checks the pointers and numbers of
// the struct. The struct does not contain the sizes of the buffers, so the constructor cannot
// detect a length that is too large or an offset outside the text. Row numbers count from the
// beginning of the buffers, so they include the offset of the array.
class ArrowBuffers {
 public:
  ArrowBuffers() = default;
  ArrowBuffers(const ArrowArray& array, int64_t buffers, int64_t rows)
      : array_(&array) {
    if (array.offset < 0 || array.length < 0 || array.n_buffers < buffers || array.length < rows) {
      throw std::runtime_error("an array is too short or lacks buffers");
    }
    if (array.offset > kMostRows || array.length > kMostRows) {
      throw std::runtime_error("an array has more rows than memory can hold");
    }
    end_ = array.offset + array.length;
    if (array.n_buffers > 0 && array.buffers == nullptr) {
      throw std::runtime_error("the list of buffers is missing");
    }
    if (buffers > 1 && array.length > 0 && array.buffers[1] == nullptr) {
      throw std::runtime_error("a buffer is missing");
    }
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

  const char* bytes(int64_t buffer) const {
    return static_cast<const char*>(array_->buffers[buffer]);
  }

  int64_t first() const { return array_->offset; }
  int64_t end() const { return end_; }
  int64_t buffers() const { return array_->n_buffers; }

 private:
  static constexpr int64_t kMostRows = int64_t{1} << 48;  // the size of the address space in bytes

  const ArrowArray* array_ = nullptr;
  const uint8_t* validity_ = nullptr;
  int64_t end_ = 0;
};

// An array of strings without a dictionary.
class StringArray {
 public:
  StringArray() = default;
  StringArray(const ArrowArray& array, StringLayout layout, int64_t rows)
      : layout_(layout), buffers_(array, least_buffers(layout), rows) {}

  const ArrowBuffers& buffers() const { return buffers_; }

  // Finds the string of a row; returns false if it is null.
  bool find(int64_t row, std::string_view* text) const {
    if (layout_ == StringLayout::kNull || !buffers_.is_valid(row)) return false;
    switch (layout_) {
      case StringLayout::kOffsets32:
        *text = between(buffers_.value<uint32_t>(1, row), buffers_.value<uint32_t>(1, row + 1));
        break;
      case StringLayout::kOffsets64:
        *text = between(buffers_.value<uint64_t>(1, row), buffers_.value<uint64_t>(1, row + 1));
        break;
      default:
        *text = view(row);
    }
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
      case StringLayout::kNull:
        return 0;
      case StringLayout::kViews:
        return kFirstVariadic;
      default:
        return 3;
    }
  }

  // Offsets are read as unsigned, because producers write 32-bit offsets above 2 GiB.
  std::string_view between(uint64_t begin, uint64_t end) const {
    if (end < begin) throw std::runtime_error("the offsets of a string decrease");
    if (end > INT64_MAX) throw std::runtime_error("an offset of a string is negative");
    if (end == begin) return {};
    if (buffers_.bytes(2) == nullptr) throw std::runtime_error("a buffer is missing");
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
    if (found.buffer >= variadic) throw std::runtime_error("a view names a missing buffer");
    if (buffers_.bytes(kFirstVariadic + variadic) == nullptr ||
        buffers_.bytes(kFirstVariadic + found.buffer) == nullptr) {
      throw std::runtime_error("a buffer is missing");
    }
    const auto size = buffers_.value<int64_t>(kFirstVariadic + variadic, found.buffer);
    if (int64_t{found.begin} + found.size > size) {
      throw std::runtime_error("a view ends after its buffer");
    }
    return {buffers_.bytes(kFirstVariadic + found.buffer) + found.begin, found.size};
  }

  StringLayout layout_ = StringLayout::kOther;
  ArrowBuffers buffers_;
};

// A column of a batch. The batch must outlive the column.
class StringColumn {
 public:
  StringColumn() = default;

  // `column` is the index of a child of the batch; -1 means the batch itself.
  StringColumn(const ArrowArray& batch, int64_t column, StringType type)
      : type_(type), rows_(batch.length) {
    const ArrowArray* child = &batch;
    if (column >= 0) {
      parent_ = ArrowBuffers(batch, 0, 0);
      if (column >= batch.n_children || batch.children == nullptr ||
          batch.children[column] == nullptr) {
        throw std::runtime_error("a batch lacks a column");
      }
      child = batch.children[column];
    }
    const int64_t skipped = column >= 0 ? batch.offset : 0;
    if (type.index == '\0') {
      strings_ = StringArray(*child, type.layout, skipped + rows_);
      first_ = strings_.buffers().first() + skipped;
    } else {
      indices_ = ArrowBuffers(*child, 2, skipped + rows_);
      if (child->dictionary == nullptr) throw std::runtime_error("a dictionary is missing");
      strings_ = StringArray(*child->dictionary, type.layout, 0);
      first_ = indices_.first() + skipped;
    }
    has_parent_ = column >= 0;
  }

  int64_t rows() const { return rows_; }

  // Appends strings from `row` on, without CR and LF at their ends, until they fill a read buffer.
  // Returns the first row that was not appended. If a string has more than `longest` bytes, only
  // the first `longest` + 1 are appended, and the number of the others is added to `dropped`.
  // `ends` receives the end of each string, and `nulls` the number of strings before each null.
  // Each row counts as one byte more than its text, as if it ended with a line end, so that a
  // buffer of empty rows and nulls becomes full, too.
  int64_t append(int64_t row, size_t most_bytes, size_t longest, std::string& text,
                 std::vector<size_t>& ends, std::vector<size_t>& nulls, size_t& dropped) const {
    while (row < rows_ && text.size() + ends.size() + nulls.size() < most_bytes) {
      std::string_view found;
      if (find(row++, &found)) {
        size_t size = found.size();
        while (size > 0 && (found[size - 1] == '\r' || found[size - 1] == '\n')) --size;
        const size_t kept = kept_of(size, longest);
        dropped += size - kept;
        text.append(found.data(), kept);
        ends.push_back(text.size());
      } else {
        nulls.push_back(ends.size());
      }
    }
    return row;
  }

 private:
  bool find(int64_t row, std::string_view* text) const {
    if (has_parent_ && !parent_.is_valid(parent_.first() + row)) return false;
    if (type_.index == '\0') return strings_.find(first_ + row, text);
    if (!indices_.is_valid(first_ + row)) return false;
    const uint64_t index = index_of(first_ + row);
    const ArrowBuffers& dictionary = strings_.buffers();
    if (index >= static_cast<uint64_t>(dictionary.end() - dictionary.first())) {
      throw std::runtime_error("an index is not in its dictionary");
    }
    return strings_.find(dictionary.first() + static_cast<int64_t>(index), text);
  }

  // A negative index becomes a huge number, which is not an index of the dictionary.
  uint64_t index_of(int64_t row) const {
    switch (type_.index) {
      case 'c':
        return static_cast<uint64_t>(indices_.value<int8_t>(1, row));
      case 'C':
        return indices_.value<uint8_t>(1, row);
      case 's':
        return static_cast<uint64_t>(indices_.value<int16_t>(1, row));
      case 'S':
        return indices_.value<uint16_t>(1, row);
      case 'i':
        return static_cast<uint64_t>(indices_.value<int32_t>(1, row));
      case 'I':
        return indices_.value<uint32_t>(1, row);
      default:
        return indices_.value<uint64_t>(1, row);
    }
  }

  StringType type_;
  int64_t rows_ = 0, first_ = 0;
  bool has_parent_ = false;
  ArrowBuffers parent_, indices_;
  StringArray strings_;
};

}  // namespace spmcompat
