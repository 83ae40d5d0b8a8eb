// Where the reference cuts a large text into chunks, and the sentences of each.
//
// Seeds are looked for in chunks: sentences are put into one, each with the zero byte
// behind it and as often as its count says, until it holds a given number of bytes; what
// is then left of the last sentence's count is lost. A chunk is a text of its own: what
// branches, and what stands at its end, is judged in it alone.
//
// Sizes are those of the sentences after rare characters were replaced, in the order
// after empty ones were removed. Both are known only when the whole text has been read,
// so a plan is made in a second reading, and the chunks are folded in a third, which
// needs of each chunk only the batches that it touches: one stretch at the front of what
// is left of the text and, where the last sentences took the places of empty ones, one
// at its back, in reverse. A plan holds four bytes a sentence while it is made, a chunk one bit.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "spmcompat/counting/counter.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"

namespace spmcompat {

struct Chunk {
  // The sentences of a batch that lie in the chunk.
  struct Stretch {
    size_t batch;
    size_t begin;  // how many of the chunk lie in batches before
    std::vector<bool> chosen;
  };

  size_t size = 0;                 // in sentences
  std::vector<Stretch> stretches;  // by batch
  std::vector<size_t> moved;       // places of sentences from the back of the text
  int64_t last_count = 0;          // of its last sentence, as far as that fits

  // The last sentence, as they stand in the text.
  size_t last() const {
    const bool is_moved = !moved.empty() && moved.back() == size - 1;
    return size - moved.size() - (is_moved ? 0 : 1);
  }

  // Forgets all sentences of a batch but the last one of the chunk.
  void forget_others(BatchLog& read) const {
    const auto holds = [&](const Stretch& stretch) { return stretch.batch == read.index; };
    const Stretch& stretch = *std::find_if(stretches.begin(), stretches.end(), holds);
    if (last() >= stretch.begin && last() - stretch.begin < read.sentences) {
      read.forget_others(last() - stretch.begin);
    } else {
      read.forget();
    }
  }
  // Brings what was read by batches into the order of the chunk.
  void arrange(SentenceOrder& read) const {
    if (moved.empty()) return;
    std::vector<uint32_t> order;
    order.reserve(size);
    uint32_t front = 0, back = static_cast<uint32_t>(size);
    auto next = moved.begin();
    for (size_t place = 0; place < size; ++place) {
      const bool is_moved = next != moved.end() && *next == place;
      if (is_moved) ++next;
      order.push_back(is_moved ? --back : front++);
    }
    read.arrange(order);
  }
};

class ChunkPlan {
 public:
  ChunkPlan(const std::vector<char32_t>& alphabet, uint64_t chunk_bytes, size_t batches)
      : required_(kCodePoints), chunk_bytes_(chunk_bytes), sizes_(batches), counts_(batches) {
    for (const char32_t c : alphabet) required_[c] = true;
  }

  // Takes the sizes of a batch's sentences. The batch, with its words, must be the only one
  // of the folder, and the folder finished with a table of its own, of one shard. Workers may
  // call this for different batches.
  void measure(const BatchLog& log, const Folder& folder, const WordTable& words) {
    std::vector<size_t> word_size(words.size(0));
    std::string text;
    for (uint32_t place = 0; place < word_size.size(); ++place) {
      const std::string_view word = words[words.id(0, place)];
      const bool changed = WordCounts::cover_text(word, required_, text);
      word_size[place] = changed ? text.size() : word.size();
    }
    std::vector<uint32_t>& sizes = sizes_[log.index];
    sizes.reserve(log.lengths.size());
    size_t at = 0;
    for (const uint32_t length : log.lengths) {
      size_t size = 0;
      for (const size_t end = at + length; at < end; ++at) {
        folder.for_each_word_of(
            log.words[at], [&](uint32_t word) { size += word_size[words.place_of(word)]; });
      }
      if (size > std::numeric_limits<uint32_t>::max()) {
        throw std::length_error("a sentence exceeds 4 GB");
      }
      sizes.push_back(static_cast<uint32_t>(size));
    }
    counts_[log.index] = log.count;
  }

  // Cuts the text into chunks, after all batches were measured.
  void cut() {
    for (const std::vector<uint32_t>& sizes : sizes_) {
      batch_begin_.push_back(batch_begin_.empty() ? 0 : batch_end_);
      batch_end_ = batch_begin_.back() + sizes.size();
    }
    places_ = Places(batch_end_, [this](uint64_t i) { return size_of(i) == 0; });
    uint64_t filled = chunk_bytes_;
    for (uint64_t p = 0; p < places_.size(); ++p) {
      const uint64_t sentence = places_[p];
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
    begin_.push_back(places_.size());
    std::vector<std::vector<uint32_t>>().swap(sizes_);
    std::vector<std::vector<int64_t>>().swap(counts_);
  }

  size_t chunks() const { return last_count_.size(); }
  uint64_t sentences() const { return places_.size(); }

  Chunk chunk(size_t number) const {
    Chunk chunk;
    const uint64_t begin = begin_[number], end = begin_[number + 1];
    if (end - begin > std::numeric_limits<uint32_t>::max()) {
      throw std::length_error("a chunk holds too many sentences");
    }
    const auto add = [&](uint64_t sentence) {
      const size_t batch = batch_of(sentence);
      if (chunk.stretches.empty() || chunk.stretches.back().batch != batch) {
        chunk.stretches.push_back({batch, chunk.size, {}});
      }
      std::vector<bool>& chosen = chunk.stretches.back().chosen;
      chosen.resize(sentence - batch_begin_[batch]);
      chosen.push_back(true);
      ++chunk.size;
    };
    for (uint64_t place = begin; place < end; ++place) {
      if (places_[place] == place) {
        add(place);
      } else {
        chunk.moved.push_back(place - begin);
      }
    }
    for (size_t i = chunk.moved.size(); i-- > 0;) add(places_[begin + chunk.moved[i]]);
    chunk.last_count = last_count_[number];
    return chunk;
  }

 private:
  // The last batch that begins at or before the sentence; empty batches lie before it.
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
  std::vector<std::vector<uint32_t>> sizes_;   // of the sentences of each batch, 0 if empty
  std::vector<std::vector<int64_t>> counts_;   // likewise, unless all are 1
  std::vector<uint64_t> batch_begin_;          // first sentence of each batch
  uint64_t batch_end_ = 0;
  Places places_;                              // the sentences in the order of the chunks
  std::vector<uint64_t> begin_;                // chunk -> range of places_
  std::vector<int64_t> last_count_;            // of each chunk's last sentence
};

// Hands on to a folder the sentences of a batch: those that lie in a chunk, or all if none is
// given.
class ChunkFolder {
 public:
  ChunkFolder(const Chunk* chunk, size_t batch, Folder& folder) : chunk_(chunk), folder_(folder) {
    if (chunk == nullptr) return;
    for (const Chunk::Stretch& stretch : chunk->stretches) {
      if (stretch.batch != batch) continue;
      chosen_ = &stretch.chosen;
      next_ = stretch.begin;
    }
  }

  void add_sentence(const char* text, size_t size, int64_t count) {
    if (chunk_ == nullptr) return folder_.add_sentence(text, size, count);
    if (chosen_ != nullptr && sentence_ < chosen_->size() && (*chosen_)[sentence_]) {
      folder_.add_sentence(text, size, next_ == chunk_->last() ? chunk_->last_count : count);
      ++next_;
    }
    ++sentence_;
  }

 private:
  const Chunk* chunk_;
  Folder& folder_;
  const std::vector<bool>* chosen_ = nullptr;  // of the batch
  size_t sentence_ = 0;                        // of the batch
  size_t next_ = 0;                            // of the chunk
};

}  // namespace spmcompat
