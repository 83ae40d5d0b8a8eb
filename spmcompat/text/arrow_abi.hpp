// The structs of the Arrow C data interface and the C stream interface, and owners of them.
// The layout is fixed: https://arrow.apache.org/docs/format/CDataInterface.html.
#pragma once

#include <cstdint>

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

// Owns one of the structs above and calls its release callback once.
template <typename Struct>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { release(); }

  // Moves a struct out of its owner, as the interface prescribes.
  void take(Struct* other) {
    release();
    value_ = *other;
    other->release = nullptr;
  }

  // Returns an empty struct that a callback may fill.
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
