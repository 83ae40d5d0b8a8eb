// The structs of the Arrow C data interface and the C stream interface, and a class that owns them.
// The layout is fixed: https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace spmcompat {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

inline void require(bool condition, const char* error) {
  if (!condition) throw std::runtime_error(error);
}

// Throws if a schema is invalid: a required pointer is null, or a number is negative. Only direct
// children are checked; check their own children before using them.
inline void check_schema(const ArrowSchema& schema) {
  require(schema.format != nullptr, "a schema has no format");
  require(schema.n_children >= 0, "a schema has a negative number of columns");
  require(schema.n_children == 0 || schema.children != nullptr, "a schema has no columns");
  for (int64_t i = 0; i < schema.n_children; ++i) {
    const ArrowSchema* child = schema.children[i];
    require(child != nullptr, "a column of a schema is missing");
    require(child->format != nullptr, "a column of a schema has no format");
    require(child->dictionary == nullptr || child->dictionary->format != nullptr,
            "the schema of a dictionary has no format");
  }
  require(schema.dictionary == nullptr || schema.dictionary->format != nullptr,
          "the schema of a dictionary has no format");
}

// Throws if a callback of a stream is missing.
inline void check_stream(const ArrowArrayStream& stream) {
  require(stream.get_schema != nullptr && stream.get_next != nullptr &&
              stream.get_last_error != nullptr,
          "a stream lacks a callback");
}

// Owns one of the structs above and calls its release callback once.
template <typename Struct>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { release(); }

  // Moves a struct out of its owner, as the Arrow interface requires.
  void take(Struct* other) {
    release();
    value_ = *other;
    other->release = nullptr;
  }

  // Returns an empty struct for a callback to fill.
  Struct* emptied() {
    release();
    value_ = Struct{};
    return &value_;
  }

  void release() {
    if (value_.release == nullptr) return;
    value_.release(&value_);
    value_.release = nullptr;
  }

  bool is_released() const { return value_.release == nullptr; }
  Struct* get() { return &value_; }

 private:
  Struct value_{};
};

using OwnedSchema = Owned<ArrowSchema>;
using OwnedArray = Owned<ArrowArray>;
using OwnedStream = Owned<ArrowArrayStream>;

}  // namespace spmcompat
