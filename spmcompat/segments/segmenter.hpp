// Cuts the distinct words into segments, which seeding and EM read: words are cut where no
// piece can lie across.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/containers/shared_table.hpp"
#include "spmcompat/containers/hash.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"

namespace spmcompat {

// In rounds that workers share: sort_words, then divide, then merge and cut, each for all parts;
// then take_contexts for each shard of the words, then assemble. Where only segments are asked for:
// cut_shard and take_contexts, each for all shards of the words, then assemble_segments.
class Segmenter {
 public:
  // What follows a segment is told by characters, or else by their first bytes.
  Segmenter(WordTable words, const PieceRule& rule, bool by_characters, size_t parts)
      : words_(std::move(words)),
        rule_(rule),
        by_characters_(by_characters),
        segments_(kShardBits, false),
        sorted_(parts),
        cuts_(parts),
        last_segment_(words_.shards()) {
    words_.drop_index();
    for (uint32_t shard = 0; shard < words_.shards(); ++shard) {
      words_.for_each_context(shard, [this](const Context&) { has_contexts_ = true; });
    }
    for (uint32_t shard = 0; shard < words_.shards() && has_contexts_; ++shard) {
      last_segment_[shard].resize(words_.size(shard));
    }
  }

  // Sorts the words of every shard that falls to the part.
  void sort_words(size_t part) {
    std::vector<Key>& keys = sorted_[part];
    size_t size = 0;
    for (uint32_t shard = part; shard < words_.shards(); shard += sorted_.size()) {
      size += words_.size(shard);
    }
    keys.reserve(size);
    for (uint32_t shard = part; shard < words_.shards(); shard += sorted_.size()) {
      const std::vector<uint64_t> totals = words_.totals(shard);
      for (uint32_t place = 0; place < totals.size(); ++place) {
        const uint32_t word = words_.id(shard, place);
        if (totals[place] > 0) keys.push_back(key_of(totals[place], word));
      }
    }
    std::sort(keys.begin(), keys.end(), Before{&words_});
  }

  // Divides the sequence of all words, by count descending, then bytes ascending, into parts.
  void divide() {
    const auto longer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const std::vector<Key>& longest = *std::max_element(sorted_.begin(), sorted_.end(), longer);
    for (size_t part = 0; part <= parts(); ++part) {
      begin_.emplace_back();
      for (const std::vector<Key>& keys : sorted_) {
        auto at = part == parts() ? keys.end() : keys.begin();
        if (part > 0 && part < parts() && !longest.empty()) {
          const Key& first = longest[longest.size() * part / parts()];
          at = std::lower_bound(keys.begin(), keys.end(), first, Before{&words_});
        }
        begin_.back().push_back(at - keys.begin());
      }
    }
    sequence_.resize(begin(parts()));
    totals_.resize(begin(parts()));
  }

  void merge(size_t part) {
    std::vector<std::pair<const Key*, const Key*>> heap;
    for (size_t i = 0; i < sorted_.size(); ++i) {
      const Key* keys = sorted_[i].data();
      const size_t begin = begin_[part][i], end = begin_[part + 1][i];
      if (begin < end) heap.emplace_back(keys + begin, keys + end);
    }
    const Before before{&words_};
    const auto later = [before](const auto& a, const auto& b) {
      return before(*b.first, *a.first);
    };
    std::make_heap(heap.begin(), heap.end(), later);
    for (size_t at = begin(part); !heap.empty(); ++at) {
      std::pop_heap(heap.begin(), heap.end(), later);
      const Key& key = *heap.back().first++;
      sequence_[at] = key.word;
      totals_[at] = static_cast<int64_t>(key.total);
      if (heap.back().first == heap.back().second) {
        heap.pop_back();
      } else {
        std::push_heap(heap.begin(), heap.end(), later);
      }
    }
  }
  void end_merge() { std::vector<std::vector<Key>>().swap(sorted_); }

  void cut(size_t part) {
    const size_t end = begin(part + 1);
    Cuts& cuts = cuts_[part];
    SharedBatch<SegmentUse> batch(segments_);
    for (size_t i = begin(part); i < end; ++i) {
      if (i + kAhead < end) words_.prefetch(sequence_[i + kAhead]);
      if (i + kAhead / 2 < end) __builtin_prefetch(words_[sequence_[i + kAhead / 2]].data());
      cut_word(sequence_[i], totals_[i], cuts, batch);
      if (batch.full()) batch.flush(cuts.segments);
    }
    batch.flush(cuts.segments);
    if (has_contexts_) note_last_segments(sequence_.data() + begin(part), cuts);
  }

  void cut_shard(uint32_t shard) {
    const std::vector<uint64_t> totals = words_.totals(shard);
    std::vector<uint32_t> words;
    Cuts cuts;
    SharedBatch<SegmentUse> batch(segments_);
    for (uint32_t place = 0; place < totals.size(); ++place) {
      if (totals[place] == 0) continue;
      words.push_back(words_.id(shard, place));
      cut_word(words.back(), totals[place], cuts, batch);
      if (batch.full()) batch.flush(cuts.segments);
    }
    batch.flush(cuts.segments);
    if (has_contexts_) note_last_segments(words.data(), cuts);
  }

  // Counts what stands behind the words of a shard, beyond what their uses tell.
  void take_contexts(uint32_t shard) {
    words_.for_each_context(shard, [this](const Context& c) {
      if (c.count == 0) return;
      const Followers followers = followers_of(c.next, c.count);
      segments_.update(last_segment_[words_.shard_of(c.word)][words_.place_of(c.word)],
                       [&](SegmentUse& use) { use.followers.add(followers); });
    });
  }

  // The words come in their sequence, or as the sentences stand where `order` is given; that
  // order fixes the lanes. Segments come as they first appear in the sequence.
  void assemble(const SentenceOrder* order, SegmentedCorpus& out) {
    segments_.drop_index();
    if (order == nullptr) words_.drop_ids();
    number_segments(out);
    copy_segments(out);
    if (order == nullptr) {
      out.word_count.swap(totals_);
    } else {
      arrange(*order, out);
    }
  }

  // The segments come as it happens.
  void assemble_segments(SegmentedCorpus& out) {
    segments_.drop_index();
    words_.drop_ids();
    for (uint32_t shard = 0; shard < segments_.shards(); ++shard) {
      for (uint32_t place = 0; place < segments_.size(shard); ++place) {
        numbered_.push_back(segments_.id(shard, place));
      }
    }
    copy_segments(out);
  }

 private:
  static constexpr unsigned kShardBits = 6;
  static constexpr size_t kAhead = 16;  // words that are fetched while others are cut

  struct Key {
    uint64_t total, head, middle;
    uint32_t word;
  };
  struct Before {
    const WordTable* words;
    bool operator()(const Key& a, const Key& b) const {
      if (a.total != b.total) return a.total > b.total;
      if (a.head != b.head) return a.head < b.head;
      if (a.middle != b.middle) return a.middle < b.middle;
      return (*words)[a.word] < (*words)[b.word];
    }
  };
  struct Cuts {
    std::vector<uint32_t> segments;  // of all words of the part
    std::vector<uint32_t> lengths;   // of each word, in segments
  };

  size_t parts() const { return cuts_.size(); }

  // The first bytes of a word as two numbers. Most words begin with a space mark, which two bits
  // can tell.
  Key key_of(uint64_t total, uint32_t id) const {
    std::string_view word = words_[id];
    const bool marked = word.substr(0, kSpaceUtf8.size()) == kSpaceUtf8;
    const uint64_t kind = marked ? 1 : word < kSpaceUtf8 ? 0 : 2;
    if (marked) word.remove_prefix(kSpaceUtf8.size());
    char bytes[16] = {};
    std::memcpy(bytes, word.data(), std::min(word.size(), sizeof bytes));
    const uint64_t head = __builtin_bswap64(load<uint64_t>(bytes));
    const uint64_t middle = __builtin_bswap64(load<uint64_t>(bytes + 8));
    return {total, kind << 62 | head >> 2, head << 62 | middle >> 2, id};
  }

  // Of a part in the sequence.
  size_t begin(size_t part) const {
    return std::accumulate(begin_[part].begin(), begin_[part].end(), size_t{0});
  }

  uint32_t symbol_of(char32_t c) const {
    if (by_characters_) return c;
    std::string text;
    append_utf8(c, text);
    return static_cast<unsigned char>(text[0]);
  }
  Followers followers_of(uint32_t next, uint64_t count) const {
    Followers followers;
    if (next < kSentenceEnd) {
      followers.next.add(symbol_of(next));
      return followers;
    }
    followers.next.add(0);
    followers.behind_end.add(next == kTextEnd ? FollowingSymbol::kTextEnd
                                              : symbol_of(next & ~kSentenceEnd));
    followers.at_end = count;
    return followers;
  }
  SegmentUse use_of_last(uint32_t word, uint64_t total) const {
    // The unknown mark, which may stand for a space mark here, begins with the same byte.
    const WordUse& use = words_.use(word);
    SegmentUse result;
    result.count = total;
    if (use.inner > 0) result.followers.add(followers_of(kSpaceMark, use.inner));
    if (use.last > 0) result.followers.add(followers_of(kSentenceEnd | kSpaceMark, use.last));
    return result;
  }

  void cut_word(uint32_t id, uint64_t total, Cuts& cuts, SharedBatch<SegmentUse>& batch) {
    const std::string_view word = words_[id];
    const size_t before = cuts.segments.size();
    const char* stop = word.data() + word.size();
    const char* head = word.data();
    char32_t left = 0;
    for (const char* p = head; p < stop;) {
      size_t length;
      const char32_t right = decode_utf8(p, stop, &length);
      if (p > head && rule_.parts(left, right)) {
        SegmentUse use;
        use.count = total;
        use.followers.next.add(symbol_of(right));
        batch.add(std::string_view(head, p - head), use, cuts.segments.size());
        cuts.segments.push_back(kNoWord);
        head = p;
      }
      left = right;
      p += length;
    }
    batch.add(std::string_view(head, stop - head), use_of_last(id, total), cuts.segments.size());
    cuts.segments.push_back(kNoWord);
    cuts.lengths.push_back(static_cast<uint32_t>(cuts.segments.size() - before));
  }

  void note_last_segments(const uint32_t* words, const Cuts& cuts) {
    size_t at = 0;
    for (size_t i = 0; i < cuts.lengths.size(); ++i) {
      const uint32_t word = words[i];
      at += cuts.lengths[i];
      last_segment_[words_.shard_of(word)][words_.place_of(word)] = cuts.segments[at - 1];
    }
  }

  // Numbers the segments and writes down the words by these numbers.
  void number_segments(SegmentedCorpus& out) {
    std::vector<std::vector<uint32_t>> number(segments_.shards());
    for (uint32_t shard = 0; shard < segments_.shards(); ++shard) {
      number[shard].assign(segments_.size(shard), kNoWord);
    }
    size_t size = 0;
    for (const Cuts& cuts : cuts_) size += cuts.segments.size();
    out.word_segments.reserve(size);
    out.word_begin.reserve(sequence_.size() + 1);
    out.word_begin.push_back(0);
    for (Cuts& cuts : cuts_) {
      for (const uint32_t segment : cuts.segments) {
        uint32_t& numbered = number[segments_.shard_of(segment)][segments_.place_of(segment)];
        if (numbered == kNoWord) {
          numbered = static_cast<uint32_t>(numbered_.size());
          numbered_.push_back(segment);
        }
        out.word_segments.push_back(numbered);
      }
      for (const uint32_t length : cuts.lengths) {
        out.word_begin.push_back(out.word_begin.back() + length);
      }
      cuts = Cuts();
    }
  }

  void copy_segments(SegmentedCorpus& out) {
    size_t bytes = 0;
    out.uses.reserve(numbered_.size());
    for (size_t i = 0; i < numbered_.size(); ++i) {
      if (i + kAhead < numbered_.size()) segments_.prefetch(numbered_[i + kAhead]);
      bytes += segments_[numbered_[i]].size();
      out.uses.push_back(segments_.use(numbered_[i]));
    }
    segments_.drop_uses();
    out.segments.reserve(numbered_.size(), bytes);
    for (size_t i = 0; i < numbered_.size(); ++i) {
      if (i + kAhead < numbered_.size()) segments_.prefetch(numbered_[i + kAhead]);
      if (i + kAhead / 2 < numbered_.size()) {
        __builtin_prefetch(segments_[numbered_[i + kAhead / 2]].data());
      }
      out.segments.add(segments_[numbered_[i]]);
    }
  }

  void arrange(const SentenceOrder& order, SegmentedCorpus& out) const {
    std::vector<std::vector<uint32_t>> place(words_.shards());
    for (uint32_t shard = 0; shard < words_.shards(); ++shard) {
      place[shard].resize(words_.size(shard));
    }
    for (uint32_t i = 0; i < sequence_.size(); ++i) {
      place[words_.shard_of(sequence_[i])][words_.place_of(sequence_[i])] = i;
    }
    std::vector<uint64_t> begin(1, 0);
    std::vector<uint32_t> segments;
    const auto add_sentence = [&](size_t i) {
      const uint32_t word = order.last[i];
      const uint32_t from = place[words_.shard_of(word)][words_.place_of(word)];
      segments.insert(segments.end(), out.word_segments.begin() + out.word_begin[from],
                      out.word_segments.begin() + out.word_begin[from + 1]);
      begin.push_back(segments.size());
      out.word_count.push_back(order.count.empty() ? 1 : order.count[i]);
    };
    const auto add_empty = [&](int64_t count) {
      begin.push_back(segments.size());
      out.word_count.push_back(count);
    };
    order.for_each(add_sentence, add_empty);
    out.word_segments.swap(segments);
    out.word_begin.swap(begin);
  }

  WordTable words_;
  PieceRule rule_;
  bool by_characters_;
  SharedTable<SegmentUse> segments_;
  std::vector<std::vector<Key>> sorted_;    // by part
  std::vector<std::vector<size_t>> begin_;  // of each part of the sequence, in each of `sorted_`
  std::vector<uint32_t> sequence_;        // of words
  std::vector<int64_t> totals_;           // of the words in the sequence
  std::vector<Cuts> cuts_;                // by part
  bool has_contexts_ = false;
  std::vector<std::vector<uint32_t>> last_segment_;  // of each word, by shard and place
  std::vector<uint32_t> numbered_;                   // number -> segment
};

}  // namespace spmcompat
