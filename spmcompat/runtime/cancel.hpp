// The flag with which a thread asks the kernels in other threads to stop.
#pragma once

#include <atomic>
#include <exception>

namespace spmcompat {

// Thrown to end a stage after its cancel flag was set.
class Cancelled : public std::exception {
 public:
  const char* what() const noexcept override { return "the training was cancelled"; }
};

// No other data depends on the flag, so its memory order is relaxed. Reading the flag then costs as
// much as reading a plain variable.
class CancelFlag {
 public:
  void set() { set_.store(true, std::memory_order_relaxed); }
  bool is_set() const { return set_.load(std::memory_order_relaxed); }

  // Throws Cancelled if the flag is set.
  void check() const {
    if (is_set()) throw Cancelled();
  }

 private:
  std::atomic<bool> set_{false};
};

}  // namespace spmcompat
