// The sentences of the text in the order of the reference, which removes empty sentences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/counting/batch.hpp"
#include "spmcompat/counting/worker_table.hpp"

namespace spmcompat {

// The positions of the sentences after the empty ones are removed. The reference moves the last
// sentence of the text to the position of an empty sentence. If the moved sentence is empty, too,
// it is replaced in the same way if `removes_all_empty` is true, and stays there otherwise.
class FilledPositions {
 public:
  FilledPositions() = default;
  template <typename IsEmpty>
  FilledPositions(uint64_t sentences, IsEmpty is_empty, bool removes_all_empty = true)
      : size_(sentences) {
    for (uint64_t position = 0; position < size_; ++position) {
      uint64_t sentence = position;
      while (position < size_ && is_empty(sentence)) {
        sentence = --size_;
        if (!removes_all_empty) break;
      }
      if (position < size_ && sentence != position) moved_.emplace_back(position, sentence);
    }
  }

  uint64_t size() const { return size_; }
  // Returns the sentence at a position.
  uint64_t operator[](uint64_t position) const {
    const auto found =
        std::lower_bound(moved_.begin(), moved_.end(), std::pair(position, uint64_t{0}));
    return found != moved_.end() && found->first == position ? found->second : position;
  }

 private:
  uint64_t size_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> moved_;  // (position, sentence), sorted by position
};

struct SentenceOrder {
  std::vector<uint32_t> last;       // each sentence's last pretoken, or kNoPretoken if it is empty
  std::vector<uint32_t> first;      // each sentence's first character; empty if `uniform_starts`
  std::vector<int64_t> count;       // each sentence's count; empty if all counts are 1
  std::vector<uint32_t> pretokens;  // the pretokens of all sentences, if they were kept
  std::vector<uint64_t> begin;      // sentence i consists of pretokens[begin[i]:begin[i + 1]]
  std::vector<std::pair<uint64_t, int64_t>> empty;  // (position, count) of each empty sentence

  // Appends the sentences of a batch. `table` is the table of the worker that read the batch.
  // table.merge_into must have been called with `keep_ids`.
  void append(BatchLog log, const WorkerTable& table, bool with_pretokens) {
    for (const uint32_t id : log.last) last.push_back(table.last_merged(id));
    first.insert(first.end(), log.first.begin(), log.first.end());
    count.insert(count.end(), log.count.begin(), log.count.end());
    if (!with_pretokens) return;
    if (begin.empty()) begin.push_back(0);
    size_t at = 0;
    for (const uint32_t length : log.lengths) {
      for (const size_t end = at + length; at < end; ++at) {
        table.for_each_merged(log.pretokens[at], [&](uint32_t id) { pretokens.push_back(id); });
      }
      begin.push_back(pretokens.size());
    }
  }

  int64_t count_of(size_t sentence) const { return count.empty() ? 1 : count[sentence]; }

  void remove_empty(bool removes_all_empty) {
    const auto is_empty = [this](uint64_t i) { return last[i] == kNoPretoken; };
    const FilledPositions positions(last.size(), is_empty, removes_all_empty);
    if (positions.size() == last.size()) return;
    arrange(positions);
    if (!removes_all_empty) set_empty_apart();
  }

  // Moves the empty sentences to `empty`, with their positions.
  void set_empty_apart() {
    std::vector<uint64_t> kept;
    for (uint64_t i = 0; i < last.size(); ++i) {
      if (last[i] == kNoPretoken) {
        empty.emplace_back(i, count_of(i));
      } else {
        kept.push_back(i);
      }
    }
    if (!empty.empty()) arrange(kept);
  }

  // Keeps only the sentences whose indices are in `indices`, in the order of `indices`.
  template <typename Indices>
  void arrange(const Indices& indices) {
    if (!begin.empty()) select_pretokens(indices);
    select(last, indices);
    select(first, indices);
    select(count, indices);
  }

  // Visits the sentences in order. Calls empty_one(count) for an empty sentence, and sentence(i)
  // for the i-th non-empty sentence.
  template <typename Sentence, typename Empty>
  void for_each(Sentence sentence, Empty empty_one) const {
    auto next = empty.begin();
    uint64_t position = 0;
    for (size_t i = 0; i < last.size() || next != empty.end(); ++position) {
      if (next != empty.end() && next->first == position) {
        empty_one(next++->second);
      } else {
        sentence(i++);
      }
    }
  }

 private:
  template <typename Values, typename Indices>
  static void select(Values& values, const Indices& indices) {
    if (values.empty()) return;
    Values kept(indices.size());
    for (size_t i = 0; i < indices.size(); ++i) kept[i] = values[indices[i]];
    values.swap(kept);
  }
  template <typename Indices>
  void select_pretokens(const Indices& indices) {
    std::vector<uint32_t> kept;
    std::vector<uint64_t> kept_begin(1, 0);
    for (uint64_t position = 0; position < indices.size(); ++position) {
      const uint64_t i = indices[position];
      kept.insert(kept.end(), pretokens.begin() + begin[i], pretokens.begin() + begin[i + 1]);
      kept_begin.push_back(kept.size());
    }
    pretokens.swap(kept);
    begin.swap(kept_begin);
  }
};

}  // namespace spmcompat
