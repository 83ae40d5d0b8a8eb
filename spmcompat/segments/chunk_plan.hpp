// Divides a large text into seeding chunks as the reference does.
//
// The reference searches for seeds in one chunk at a time. It writes sentences to a chunk until the
// chunk contains a certain number of bytes. A sentence with the count n is written n times, each
// time followed by a zero byte. If the chunk is full before all copies of a sentence are written,
// the remaining copies are lost. A chunk is a separate text: which substrings branch, and how the
// text ends, depends only on the chunk.
//
// The sentences are measured after rare characters are replaced, and written in the order that
// results when empty sentences are removed. The text must be read once to find out which characters
// are rare and which sentences are empty. So the sentences are measured in a second reading, and
// the chunks are counted in a third.
//
// Earlier chunks have used up sentences from the front and from the back of the text. A chunk takes
// the next sentences from the front. At the position of an empty sentence, it takes the next
// sentence from the back instead, because the reference moves the last sentence there. So only some
// of the batches are read for a chunk. Making the plan takes four bytes of memory for each sentence
// of the text; a chunk takes one bit for each sentence of its batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/batch.hpp"
#include "spmcompat/counting/merging.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/counting/worker_table.hpp"
#include "spmcompat/plan.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/runtime/crew.hpp"

namespace spmcompat {

struct Chunk {
  // The sentences of one batch that are in the chunk.
  struct Part {
    size_t batch;
    size_t begin;  // the number of sentences of the chunk that are in earlier batches
    std::vector<bool> chosen;
  };

  size_t size = 0;            // the number of sentences
  std::vector<Part> parts;    // in the order of the batches
  std::vector<size_t> moved;  // for each sentence from the back of the text: its index in the chunk
  int64_t last_count = 0;     // the number of copies of the last sentence in the chunk

  // Of the sentences in the chunk, finds the one that is last in the order of the chunk. Returns
  // its index in the order of the text.
  size_t last() const {
    const bool is_moved = !moved.empty() && moved.back() == size - 1;
    return size - moved.size() - (is_moved ? 0 : 1);
  }

  BatchSelection selection(size_t batch) const {
    const Part& part = part_of(batch);
    // If the last sentence of the chunk is in an earlier batch, the subtraction wraps around. The
    // result is an index that no sentence has.
    return {part.chosen, last() - part.begin, last_count};
  }

  // Changes the order of the sentences from the order of the batches to the order of the chunk.
  void arrange(SentenceOrder& read) const {
    if (moved.empty()) return;
    std::vector<uint32_t> order;
    order.reserve(size);
    uint32_t front = 0, back = static_cast<uint32_t>(size);
    auto next = moved.begin();
    for (size_t position = 0; position < size; ++position) {
      const bool is_moved = next != moved.end() && *next == position;
      if (is_moved) ++next;
      order.push_back(is_moved ? --back : front++);
    }
    read.arrange(order);
  }

 private:
  const Part& part_of(size_t batch) const {
    return *std::find_if(parts.begin(), parts.end(),
                         [batch](const Part& part) { return part.batch == batch; });
  }
};

// Merges the counts of a chunk. `text` contains only the sentences of the chunk, and none of them
// is empty. Frees the counters of the workers.
inline void merge_chunk(std::unique_ptr<PretokenCounts>& merged, CountedText& text,
                        const Chunk& chunk, const CountingPlan& plan, Crew& crew) {
  CountedText read = std::exchange(text, CountedText());
  merged = std::make_unique<PretokenCounts>();
  if (!plan.keeps_order) {
    merge_unordered(read, chunk.last(), *merged, crew);
    return;
  }
  SentenceOrder order = merge_in_order(read, *merged, false, crew);
  chunk.arrange(order);
  merged->close_sentences(order, plan.uniform_starts);
}

// The sizes in bytes of the pretokens of one counter, with rare characters replaced. The size of a
// pretoken or raw token is computed once, however many sentences contain it.
class PretokenSizes {
 public:
  // Computes the sizes of the pretokens and raw tokens that are new since the last call.
  void update(WorkerTable& table, const std::vector<bool>& required, const CancelFlag& cancel) {
    const auto size_of = [&](std::string_view pretoken) {
      const bool changed = cover_text(pretoken, required, text_);
      return uint64_t{changed ? text_.size() : pretoken.size()};
    };
    for (uint32_t id = raw_tokens_.size(); id < table.raw_tokens.size(); ++id) {
      cancel.check();
      raw_tokens_.push_back(0);
      table.for_each_pretoken_of(
          id, [&](std::string_view pretoken) { raw_tokens_.back() += size_of(pretoken); });
    }
    for (uint32_t id = pretokens_.size(); id < table.pretokens.size(); ++id) {
      cancel.check();
      pretokens_.push_back(size_of(table.pretokens[id]));
    }
  }

  // Returns the size of an item of BatchLog::pretokens.
  uint64_t operator[](uint32_t id) const {
    return id & WorkerTable::kRawToken ? raw_tokens_[id & ~WorkerTable::kRawToken] : pretokens_[id];
  }

 private:
  std::vector<uint64_t> raw_tokens_, pretokens_;
  std::string text_;
};

class ChunkPlan {
 public:
  ChunkPlan(const std::vector<char32_t>& alphabet, uint64_t chunk_bytes, size_t batches)
      : required_(required_characters(alphabet)),
        chunk_bytes_(chunk_bytes),
        sizes_(batches),
        counts_(batches) {}

  // Records the sizes of the sentences of a batch. `log` must contain the pretokens of the batch,
  // `table` must belong to the counter that counted the batch, and `pretokens` must always be used
  // with the same table. Several workers may call this function at the same time, for different
  // batches.
  void measure(const BatchLog& log, WorkerTable& table, PretokenSizes& pretokens,
               const CancelFlag& cancel) {
    pretokens.update(table, required_, cancel);
    std::vector<uint32_t>& sizes = sizes_[log.index];
    sizes.reserve(log.lengths.size());
    size_t at = 0;
    for (const uint32_t length : log.lengths) {
      uint64_t size = 0;
      for (const size_t end = at + length; at < end; ++at) size += pretokens[log.pretokens[at]];
      if (size > std::numeric_limits<uint32_t>::max()) {
        throw std::length_error("a sentence exceeds 4 GB");
      }
      sizes.push_back(static_cast<uint32_t>(size));
    }
    counts_[log.index] = log.count;
  }

  // Cuts the text into chunks. All batches must have been measured.
  void cut(Crew& crew) {
    for (const std::vector<uint32_t>& sizes : sizes_) {
      batch_begin_.push_back(batch_begin_.empty() ? 0 : batch_end_);
      batch_end_ = batch_begin_.back() + sizes.size();
    }
    positions_ = FilledPositions(batch_end_, [this](uint64_t i) { return size_of(i) == 0; });
    uint64_t filled = chunk_bytes_;
    for (uint64_t p = 0; p < positions_.size(); ++p) {
      crew.check_cancelled();
      const uint64_t sentence = positions_[p];
      if (filled >= chunk_bytes_) {
        begin_.push_back(p);
        last_count_.push_back(0);
        filled = 0;
      }
      const uint64_t bytes = uint64_t{size_of(sentence)} + 1;
      const uint64_t fitting = (chunk_bytes_ - filled + bytes - 1) / bytes;
      const uint64_t count = std::min<uint64_t>(count_of(sentence), fitting);
      filled += count * bytes;
      last_count_.back() = static_cast<int64_t>(count);
    }
    begin_.push_back(positions_.size());
    std::vector<std::vector<uint32_t>>().swap(sizes_);
    std::vector<std::vector<int64_t>>().swap(counts_);
  }

  size_t chunks() const { return last_count_.size(); }
  uint64_t sentences() const { return positions_.size(); }

  Chunk chunk(size_t number) const {
    Chunk chunk;
    const uint64_t begin = begin_[number], end = begin_[number + 1];
    if (end - begin > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error("a chunk contains too many sentences");
    }
    const auto add = [&](uint64_t sentence) {
      const size_t batch = batch_of(sentence);
      if (chunk.parts.empty() || chunk.parts.back().batch != batch) {
        chunk.parts.push_back({batch, chunk.size, {}});
      }
      std::vector<bool>& chosen = chunk.parts.back().chosen;
      chosen.resize(sentence - batch_begin_[batch]);
      chosen.push_back(true);
      ++chunk.size;
    };
    for (uint64_t position = begin; position < end; ++position) {
      if (positions_[position] == position) {
        add(position);
      } else {
        chunk.moved.push_back(position - begin);
      }
    }
    for (size_t i = chunk.moved.size(); i-- > 0;) add(positions_[begin + chunk.moved[i]]);
    chunk.last_count = last_count_[number];
    return chunk;
  }

 private:
  // Returns the batch of a sentence: the last batch that begins at or before the sentence. Empty
  // batches may begin at the same sentence, but they come before its batch.
  size_t batch_of(uint64_t sentence) const {
    return std::upper_bound(batch_begin_.begin(), batch_begin_.end(), sentence) -
           batch_begin_.begin() - 1;
  }
  uint32_t size_of(uint64_t sentence) const {
    const size_t batch = batch_of(sentence);
    return sizes_[batch][sentence - batch_begin_[batch]];
  }
  int64_t count_of(uint64_t sentence) const {
    const size_t batch = batch_of(sentence);
    const std::vector<int64_t>& counts = counts_[batch];
    return counts.empty() ? 1 : counts[sentence - batch_begin_[batch]];
  }

  std::vector<bool> required_;
  uint64_t chunk_bytes_;
  std::vector<std::vector<uint32_t>> sizes_;  // for each batch: the sentences' sizes in bytes
  std::vector<std::vector<int64_t>> counts_;  // for each batch: sentence counts, unless all are 1
  std::vector<uint64_t> batch_begin_;         // for each batch: the index of its first sentence
  uint64_t batch_end_ = 0;
  FilledPositions positions_;        // the sentences in the order of the chunks
  std::vector<uint64_t> begin_;      // chunk i is positions_[begin_[i]:begin_[i + 1]]
  std::vector<int64_t> last_count_;  // for each chunk: the count of its last sentence
};

}  // namespace spmcompat
