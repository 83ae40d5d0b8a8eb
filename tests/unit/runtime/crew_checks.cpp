// Runs those checks of crew.hpp that are named on the command line. test_crew.py compiles and runs
// this program. A check that fails ends the program with a message and status 1.
#include "spmcompat/runtime/crew.hpp"

#ifndef _WIN32
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using spmcompat::CancelFlag;
using spmcompat::Cancelled;
using spmcompat::Crew;
using spmcompat::Turns;

namespace {

std::atomic<bool> allocations_fail{false};

#define CHECK(condition)                                             \
  if (!(condition)) {                                                \
    std::fprintf(stderr, "line %d: not " #condition "\n", __LINE__); \
    std::_Exit(1);                                                   \
  }

template <typename Stage>
void run(Crew& crew, Stage stage) {
  crew.start(stage);
  while (!crew.await_end(0.01)) {
  }
  crew.finish();
}

void sleep_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

void every_index_once() {
  for (const size_t size : {1, 2, 7}) {
    CancelFlag cancel;
    Crew crew(size, cancel);
    for (const size_t n : {0, 1, 2, 5, 1000}) {
      std::vector<std::atomic<int>> seen(n);
      run(crew, [&] {
        for (int i = 0; i < 3; ++i) {
          crew.for_each(n, [&](size_t index, size_t worker) {
            CHECK(worker < size);
            ++seen[index];
          });
        }
      });
      for (const std::atomic<int>& count : seen) CHECK(count == 3);
    }
  }
}

void workers_run_at_the_same_time() {
  CancelFlag cancel;
  Crew crew(3, cancel);
  std::atomic<int> arrived{0};
  std::atomic<bool> is_caller{false};
  const std::thread::id caller = std::this_thread::get_id();
  run(crew, [&] {
    crew.for_each(3, [&](size_t) {
      is_caller = is_caller || std::this_thread::get_id() == caller;
      ++arrived;
      while (arrived < 3) std::this_thread::yield();
    });
  });
  CHECK(!is_caller);
}

void threads_stay_for_the_next_stage() {
  CancelFlag cancel;
  Crew crew(2, cancel);
  std::set<std::thread::id> used;
  std::mutex mutex;
  for (int i = 0; i < 20; ++i) {
    run(crew, [&] {
      crew.for_each(50, [&](size_t) {
        const std::lock_guard<std::mutex> lock(mutex);
        used.insert(std::this_thread::get_id());
      });
    });
  }
  CHECK(used.size() <= 2);
}

template <typename Error>
void check_error(size_t size) {
  CancelFlag cancel;
  Crew crew(size, cancel);
  std::atomic<size_t> done{0};
  bool goes_on = false;
  try {
    run(crew, [&] {
      crew.for_each(1'000'000, [&](size_t index) {
        if (index == 3) throw Error();
        ++done;
      });
      goes_on = true;
    });
    CHECK(false);
  } catch (const Error&) {
  }
  CHECK(!goes_on);
  CHECK(cancel.is_set());
  CHECK(done < 1'000'000);
}

struct NoStandardError {};
struct Failure : std::runtime_error {
  Failure() : std::runtime_error("failure") {}
};

void the_first_error_stops_all() {
  for (const size_t size : {1, 2, 5}) {
    check_error<Failure>(size);
    check_error<std::bad_alloc>(size);
    check_error<NoStandardError>(size);
  }
}

void an_error_of_the_stage_itself() {
  CancelFlag cancel;
  Crew crew(2, cancel);
  try {
    run(crew, [] { throw Failure(); });
    CHECK(false);
  } catch (const Failure&) {
  }
  CHECK(cancel.is_set());
}

void a_cancelled_stage_ends() {
  CancelFlag cancel;
  Crew crew(2, cancel);
  std::atomic<size_t> begun{0};
  crew.start([&] {
    crew.for_each(1'000'000, [&](size_t) {
      ++begun;
      sleep_briefly();
    });
  });
  while (begun == 0) CHECK(!crew.await_end(0.001));
  cancel.set();
  while (!crew.await_end(0.01)) {
  }
  try {
    crew.finish();
    CHECK(false);
  } catch (const Cancelled&) {
  }
  CHECK(begun < 1'000'000);
}

void turns_are_taken_in_order() {
  for (const size_t size : {1, 2, 4}) {
    CancelFlag cancel;
    Crew crew(size, cancel);
    std::vector<size_t> order;
    run(crew, [&] {
      Turns turns(crew);
      crew.for_each(300, [&](size_t index) {
        if (index % 7 == 0) sleep_briefly();
        turns.take(index, [&] { order.push_back(index); });
      });
    });
    std::vector<size_t> all(300);
    std::iota(all.begin(), all.end(), 0);
    CHECK(order == all);
  }
}

void nobody_waits_for_the_turn_of_one_that_failed() {
  for (const bool in_turn : {false, true}) {
    CancelFlag cancel;
    Crew crew(3, cancel);
    try {
      run(crew, [&] {
        Turns turns(crew);
        crew.for_each(300, [&](size_t index) {
          if (index == 9 && !in_turn) throw Failure();
          turns.take(index, [&] {
            if (index == 9) throw Failure();
          });
        });
      });
      CHECK(false);
    } catch (const Failure&) {
    }
  }
}

void progress_is_added_up() {
  CancelFlag cancel;
  Crew crew(3, cancel);
  size_t seen = 0;
  crew.start([&] { crew.for_each(500, [&](size_t index) { crew.advance(index); }); });
  while (!crew.await_end(0.001)) seen += crew.take_progress();
  seen += crew.take_progress();
  CHECK(seen == 500 * 499 / 2);
}

void sum_up(Crew& crew) {
  std::atomic<size_t> sum{0};
  run(crew, [&] { crew.for_each(100, [&](size_t index) { sum += index; }); });
  CHECK(sum == 100 * 99 / 2);
}

#ifndef _WIN32
// A forked process can use crews even if other threads were running a stage during the fork.
void a_forked_process() {
  CancelFlag cancel, other_cancel;
  Crew crew(3, cancel), other(3, other_cancel);
  sum_up(crew);
  std::atomic<bool> is_forked{false};
  std::thread busy([&] {
    while (!is_forked) sum_up(other);
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      sum_up(crew);
      {
        CancelFlag new_cancel;
        Crew new_crew(2, new_cancel);
        sum_up(new_crew);
      }
      crew.~Crew();
      other.~Crew();
      std::_Exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(status == 0);
  }
  is_forked = true;
  busy.join();
  sum_up(crew);
}

// Threads may fail to start before the first stage, or during it.
void threads_that_cannot_start() {
  rlimit limit;
  CHECK(getrlimit(RLIMIT_AS, &limit) == 0);
  const rlimit none{1 << 20, limit.rlim_max};
  {
    CancelFlag cancel;
    Crew crew(4, cancel);
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    sum_up(crew);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
    sum_up(crew);
  }
  CancelFlag cancel;
  Crew crew(4, cancel);
  run(crew, [&] {
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    std::atomic<size_t> done{0};
    crew.for_each(100, [&](size_t) { ++done; });
    CHECK(done == 100);
    CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  });
  sum_up(crew);
}

#endif

void a_worker_that_finds_no_memory() {
  CancelFlag cancel;
  Crew crew(3, cancel);
  sum_up(crew);
  try {
    run(crew, [&] {
      crew.for_each(1000, [&](size_t index) {
        if (index == 100) allocations_fail = true;
        if (index >= 100) std::vector<char> block(1000);
      });
    });
    CHECK(false);
  } catch (const std::bad_alloc&) {
    allocations_fail = false;
  }
}

const std::map<std::string, void (*)()> checks{
    {"every_index_once", every_index_once},
    {"workers_run_at_the_same_time", workers_run_at_the_same_time},
    {"threads_stay_for_the_next_stage", threads_stay_for_the_next_stage},
    {"the_first_error_stops_all", the_first_error_stops_all},
    {"an_error_of_the_stage_itself", an_error_of_the_stage_itself},
    {"a_cancelled_stage_ends", a_cancelled_stage_ends},
    {"turns_are_taken_in_order", turns_are_taken_in_order},
    {"nobody_waits_for_the_turn_of_one_that_failed", nobody_waits_for_the_turn_of_one_that_failed},
    {"progress_is_added_up", progress_is_added_up},
#ifndef _WIN32
    {"a_forked_process", a_forked_process},
    {"threads_that_cannot_start", threads_that_cannot_start},
#endif
    {"a_worker_that_finds_no_memory", a_worker_that_finds_no_memory},
};

}  // namespace

[[gnu::noinline]] void* operator new(size_t size) {
  void* block = allocations_fail ? nullptr : std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

// Without arguments, prints the names of all checks; otherwise, the name of each check that passed.
int main(int count, char** names) {
  if (count == 1) {
    for (const auto& [name, check] : checks) std::printf("%s\n", name.c_str());
  }
  for (int i = 1; i < count; ++i) {
    checks.at(names[i])();
    std::printf("%s\n", names[i]);
  }
}
