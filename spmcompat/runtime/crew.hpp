// The threads of a training run, and the parallel loop that stages use.
//
// A stage is a function that takes a crew. The first thread of the crew runs the stage, and all
// threads share its loops. The thread that calls the stage only waits, so it can check for Ctrl-C
// and show the progress, even during sequential parts of the stage.
//
// Threads start when they are first needed. If a thread cannot start, the other threads do its
// work. If no thread can start, the calling thread runs the stage.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/runtime/system.hpp"

namespace spmcompat {

class Crew {
 public:
  // The first error in a stage sets `cancel`. The calling thread may also set `cancel`. After that,
  // the crew can no longer be used.
  Crew(size_t size, CancelFlag& cancel)
      : size_(size), cancel_(cancel), team_(std::make_shared<Team>()) {}
  Crew(const Crew&) = delete;
  ~Crew() {
    // After a fork, the child process has no threads, and its copy of the mutex may stay locked.
    if (process_ != process_id()) return;
    const std::lock_guard<std::mutex> lock(team_->mutex);
    team_->dismissed = true;
    team_->changed.notify_all();
  }

  // The functions that stages and their loops call:

  size_t size() const { return size_; }
  const CancelFlag& cancel() const { return cancel_; }

  // Calls function(index), or function(index, worker), for all indexes below n. The workers take
  // the indexes in ascending order; `worker` is less than size(). Only the stage itself may call
  // for_each; a function that runs in a loop must not.
  //
  // Throws the first exception that a call threw. Throws Cancelled if the flag is set; then
  // some indexes may have been skipped.
  template <typename Function>
  void for_each(size_t n, Function function) {
    std::atomic<size_t> next{0};
    const auto work = [&](size_t worker) {
      try {
        for (size_t i; !cancel_.is_set() && (i = next.fetch_add(1)) < n;) {
          if constexpr (std::is_invocable_v<Function&, size_t, size_t>) {
            function(i, worker);
          } else {
            function(i);
          }
        }
      } catch (...) {
        fail();
      }
    };
    share(std::ref(work), std::min(n, size_));
    if (error_ != nullptr) std::rethrow_exception(error_);
    check_cancelled();
  }

  // Divides the indexes below n into ranges of at most `size` indexes, and calls function(begin,
  // end) for each range. Threads and errors are handled as in for_each.
  template <typename Function>
  void for_each_range(size_t n, size_t size, Function function) {
    for_each((n + size - 1) / size,
             [&](size_t range) { function(range * size, std::min(n, (range + 1) * size)); });
  }

  // Waits until ready() is true. The thread that makes ready() true must hold the mutex of `lock`,
  // and notify `changed`. Throws Cancelled if the flag is set, for example because another worker
  // failed.
  template <typename Ready>
  void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
            Ready ready) const {
    constexpr std::chrono::milliseconds kInterval(20);
    while (!changed.wait_for(lock, kInterval, ready)) check_cancelled();
  }

  void check_cancelled() const { cancel_.check(); }

  // Reports progress, in units that the stage chooses.
  void advance(size_t count) { progress_.fetch_add(count); }

  // For the thread that calls a stage. It calls start, then await_end until that returns true, then
  // finish.

  // Lets the first thread call stage().
  template <typename Stage>
  void start(Stage stage) {
    join_process();
    error_ = nullptr;
    stage_ = [this, stage] {
      try {
        stage();
      } catch (...) {
        fail();
      }
    };
    const bool can_start = has_first_ || (has_first_ = start_thread(0));
    const std::lock_guard<std::mutex> lock(team_->mutex);
    team_->is_running = true;
    team_->has_first &= can_start;
    team_->stage = &stage_;
    team_->changed.notify_all();
  }

  // Waits for the end of the stage, but at most `seconds`. Returns whether the stage has ended. If
  // the first thread could not start, runs the stage in the calling thread.
  bool await_end(double seconds) {
    std::unique_lock<std::mutex> lock(team_->mutex);
    const std::chrono::duration<double> limit(seconds);
    const auto is_left = [&] { return !team_->has_first && team_->stage != nullptr; };
    team_->done.wait_for(lock, limit, [&] { return !team_->is_running || is_left(); });
    if (is_left()) {
      team_->stage = nullptr;
      lock.unlock();
      stage_();
      lock.lock();
      team_->is_running = false;
    }
    return !team_->is_running;
  }

  // Returns the progress since the last call.
  size_t take_progress() { return progress_.exchange(0); }

  // Throws the exception of the stage, if there was one.
  void finish() {
    stage_ = nullptr;
    if (error_ != nullptr) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  using Loop = std::function<void(size_t worker)>;

  // The data that the threads share. It lives until the last thread has ended.
  struct Team {
    std::mutex mutex;
    std::condition_variable changed;  // a stage or loop has begun, or the threads are dismissed
    std::condition_variable done;     // the stage has ended, or the last thread has left the loop
    const std::function<void()>* stage = nullptr;  // the stage, until a thread takes it
    const Loop* loop = nullptr;                    // the current loop, while threads may join it
    size_t loops = 0;         // the number of loops so far; a thread joins each loop only once
    size_t in_loop = 0;       // the number of threads in the loop, not counting the first thread
    bool is_running = false;  // whether the stage is running
    bool has_first = true;    // false if the first thread could not start
    bool dismissed = false;   // whether the threads must end
  };

  static void run_first(std::shared_ptr<Team> team) {
    const bool is_prepared = allocate_exception_data();
    std::unique_lock<std::mutex> lock(team->mutex);
    team->has_first = is_prepared;
    while (is_prepared) {
      team->changed.wait(lock, [&] { return team->dismissed || team->stage != nullptr; });
      if (team->dismissed) return;
      const std::function<void()>& stage = *std::exchange(team->stage, nullptr);
      lock.unlock();
      stage();
      lock.lock();
      team->is_running = false;
      team->done.notify_all();
    }
    team->done.notify_all();
  }

  static void run_other(std::shared_ptr<Team> team, size_t worker) {
    if (!allocate_exception_data()) return;
    std::unique_lock<std::mutex> lock(team->mutex);
    for (size_t joined = 0;;) {
      team->changed.wait(lock, [&] {
        return team->dismissed || (team->loop != nullptr && team->loops != joined);
      });
      if (team->dismissed) return;
      joined = team->loops;
      ++team->in_loop;
      const Loop& loop = *team->loop;
      lock.unlock();
      loop(worker);
      lock.lock();
      if (--team->in_loop == 0) team->done.notify_all();
    }
  }

  bool start_thread(size_t worker) {
    if (!has_room_for_thread()) return false;
    try {
      if (worker == 0) {
        std::thread(run_first, team_).detach();
      } else {
        std::thread(run_other, team_, worker).detach();
      }
    } catch (const std::exception&) {  // no memory, or too many threads
      return false;
    }
    return true;
  }

  // Calls loop(worker) in this thread, and in all other threads that are free. First starts threads
  // until there are at least `workers`.
  void share(const Loop& loop, size_t workers) {
    while (others_ + 1 < workers && can_start_others_) {
      can_start_others_ = start_thread(others_ + 1);
      others_ += can_start_others_;
    }
    const bool is_shared = workers > 1 && others_ > 0;
    if (is_shared) {
      const std::lock_guard<std::mutex> lock(team_->mutex);
      team_->loop = &loop;
      ++team_->loops;
      team_->changed.notify_all();
    }
    if (workers > 0) loop(0);
    if (is_shared) {
      std::unique_lock<std::mutex> lock(team_->mutex);
      team_->loop = nullptr;
      team_->done.wait(lock, [&] { return team_->in_loop == 0; });
    }
  }

  // Stores the current exception if it is the first one, and stops all workers.
  void fail() {
    {
      const std::lock_guard<std::mutex> lock(failing_);
      if (error_ == nullptr) error_ = std::current_exception();
    }
    cancel_.set();
  }

  // After a fork, the new process does not have the threads, so they must be started again.
  void join_process() {
    if (process_ == process_id()) return;
    process_ = process_id();
    team_ = std::make_shared<Team>();
    has_first_ = false;
    others_ = 0;
  }

  size_t size_;
  CancelFlag& cancel_;
  std::shared_ptr<Team> team_;
  int process_ = process_id();
  bool has_first_ = false;
  size_t others_ = 0;  // the number of threads that were started, not counting the first thread
  bool can_start_others_ = true;
  std::function<void()> stage_;
  std::mutex failing_;
  std::exception_ptr error_;  // the first exception of the stage
  std::atomic<size_t> progress_{0};
};

// Lets workers take turns in the order of the numbers 0, 1, 2... Workers must receive the numbers
// in ascending order, and must take the turn of each number that they receive.
class Turns {
 public:
  explicit Turns(const Crew& crew) : crew_(crew) {}

  // Calls function() after all earlier turns are over.
  template <typename Function>
  void take(size_t turn, Function function) {
    std::unique_lock<std::mutex> lock(mutex_);
    crew_.wait(changed_, lock, [&] { return over_ == turn; });
    lock.unlock();
    function();
    lock.lock();
    ++over_;
    changed_.notify_all();
  }

 private:
  const Crew& crew_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t over_ = 0;
};

// Starts the stage result = function(arguments..., crew). The function may be a method of the first
// argument. The result and the arguments must not move before the end of the stage.
template <typename Result, typename Function, typename... Arguments>
void start_stage(Crew& crew, Result& result, Function function, Arguments&... arguments) {
  crew.start([&crew, &result, function, &arguments...] {
    result = std::invoke(function, arguments..., crew);
  });
}

// Starts a stage that calls change(object, arguments..., crew). `change` may be a method of the
// object.
template <typename Object, typename Change, typename... Arguments>
void start_change(Crew& crew, Object& object, Change change, Arguments&... arguments) {
  crew.start(
      [&crew, &object, change, &arguments...] { std::invoke(change, object, arguments..., crew); });
}

}  // namespace spmcompat
