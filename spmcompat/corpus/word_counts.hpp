// From the folders of all workers to one corpus: distinct words in context, and
// the order of the sentences; then rare characters replaced, words cut into
// segments, and what seeding and EM read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "fold.hpp"
#include "piece_rule.hpp"
#include "string_table.hpp"
#include "utf8.hpp"

namespace spmcompat {

constexpr size_t kCodePoints = 0x110000;

// The reference removes an empty sentence by moving the last one into its place. Returns
// which sentences stand where then.
template <typename IsEmpty>
std::vector<uint64_t> places_without_empty(uint64_t sentences, IsEmpty is_empty) {
  std::vector<uint64_t> place(sentences);
  for (size_t i = 0; i < place.size(); ++i) place[i] = i;
  for (size_t i = 0; i < place.size();) {
    if (is_empty(place[i])) {
      place[i] = place.back();
      place.pop_back();
    } else {
      ++i;
    }
  }
  return place;
}

// The sentences of the corpus, in order.
struct SentenceOrder {
  std::vector<uint32_t> last;        // of each its last word, or kNoWord if it is empty
  std::vector<uint32_t> first;       // of each its first character, unless all are equal
  std::vector<int64_t> count;        // of each, unless all are 1
  std::vector<uint32_t> words;       // of all, if they were kept
  std::vector<uint64_t> word_begin;  // sentence -> range of words

  // `ids` are the ids of the folder's words in the corpus.
  void append(const BatchLog& log, const Folder& folder, const std::vector<uint32_t>& ids,
              bool with_words) {
    for (const uint32_t id : log.last) {
      last.push_back(id == kNoWord ? kNoWord : ids[folder.last_word_of(id)]);
    }
    first.insert(first.end(), log.first.begin(), log.first.end());
    count.insert(count.end(), log.count.begin(), log.count.end());
    if (!with_words) return;
    if (word_begin.empty()) word_begin.push_back(0);
    size_t at = 0;
    for (const uint32_t length : log.lengths) {
      for (const size_t end = at + length; at < end; ++at) {
        folder.for_each_word_of(log.words[at], [&](uint32_t word) { words.push_back(ids[word]); });
      }
      word_begin.push_back(words.size());
    }
  }

  void remove_empty() {
    const auto is_empty = [this](uint64_t i) { return last[i] == kNoWord; };
    const std::vector<uint64_t> place = places_without_empty(last.size(), is_empty);
    if (place.size() < last.size()) arrange(place);
  }

  // Puts the sentences `place` in the place of all.
  void arrange(const std::vector<uint64_t>& place) {
    select(last, place);
    select(first, place);
    select(count, place);
    if (!word_begin.empty()) select_words(place);
  }

 private:
  template <typename Values>
  static void select(Values& values, const std::vector<uint64_t>& place) {
    if (values.empty()) return;
    Values kept(place.size());
    for (size_t i = 0; i < place.size(); ++i) kept[i] = values[place[i]];
    values.swap(kept);
  }
  void select_words(const std::vector<uint64_t>& place) {
    std::vector<uint32_t> kept;
    std::vector<uint64_t> begin(1, 0);
    for (const uint64_t i : place) {
      kept.insert(kept.end(), words.begin() + word_begin[i], words.begin() + word_begin[i + 1]);
      begin.push_back(kept.size());
    }
    words.swap(kept);
    word_begin.swap(begin);
  }
};

// What the trainers see. A unit is a segment with what follows it in the text:
// a byte, or the end of a sentence and the first byte of the next one.
struct Unit {
  uint32_t segment;
  uint16_t tail;
  uint64_t count;
};
constexpr uint16_t kTailSentenceEnd = 0x100;  // | first byte of the next sentence
constexpr uint16_t kTailTextEnd = 0x200;

struct SegmentedCorpus {
  size_t segments_size() const { return segments.size(); }
  std::string word_text(size_t word) const {
    std::string text;
    for (uint64_t i = word_begin[word]; i < word_begin[word + 1]; ++i) {
      text.append(segments[word_segments[i]]);
    }
    return text;
  }

  StringTable segments;
  std::vector<Unit> units;
  std::vector<uint64_t> word_begin;  // word -> range of word_segments
  std::vector<uint32_t> word_segments;
  std::vector<int64_t> word_count;
};

class WordCounts {
 public:
  // Takes a folder's words; returns their ids here. Those of the first are taken as they are.
  std::vector<uint32_t> absorb(Folder& folder) {
    std::vector<uint32_t> ids(folder.words().size());
    if (words_.size() == 0) {
      std::iota(ids.begin(), ids.end(), 0);
      words_ = folder.take_words();
      contexts_ = folder.take_contexts();
      return ids;
    }
    for (uint32_t id = 0; id < ids.size(); ++id) ids[id] = words_.add(folder.words()[id]);
    folder.contexts().for_each(
        [&](const Context& c) { contexts_.add(ids[c.word], c.next, c.count); });
    return ids;
  }

  // Notes what stands behind the ends of sentences, as their order tells. With uniform starts
  // every end was counted while reading, as if a sentence followed.
  void close_sentences(const SentenceOrder& order, bool uniform_starts) {
    const size_t size = order.last.size();
    for (size_t i = 0; i + 1 < size && !uniform_starts; ++i) {
      contexts_.add(order.last[i], kSentenceEnd | order.first[i + 1], 1);
    }
    if (size == 0) return;
    if (uniform_starts) contexts_.add(order.last[size - 1], kSentenceEnd | kSpaceMark, uint64_t(-1));
    contexts_.add(order.last[size - 1], kTextEnd, 1);
  }

  size_t size() const { return words_.size(); }

  // Adds to counts[c] how often the character c stands in the corpus. NUL is not counted.
  void count_characters(std::vector<uint64_t>& counts) const {
    std::vector<uint64_t> totals = word_totals();
    for (uint32_t id = 0; id < words_.size(); ++id) {
      for_each_character(words_[id], [&](char32_t c) { counts[c] += totals[id]; });
    }
    counts[0] = 0;
  }

  // The size of the text, with one more byte at the end of each sentence. Counts of a TSV
  // may go beyond any integer; up to 2^53 a double is exact.
  double text_bytes() const {
    double bytes = 0;
    contexts_.for_each([&](const Context& c) {
      const size_t size = words_[c.word].size() + (c.next >= kSentenceEnd ? 1 : 0);
      bytes += static_cast<double>(c.count) * static_cast<double>(size);
    });
    return bytes;
  }

  // Whether the text changes where characters that are not required become the unknown mark;
  // if so, `covered` is the changed text.
  static bool cover_text(std::string_view text, const std::vector<bool>& required,
                         std::string& covered) {
    bool changed = false;
    for_each_character(text, [&](char32_t c) { changed |= !required[c]; });
    if (!changed) return false;
    covered.clear();
    for_each_character(text, [&](char32_t c) {
      append_utf8(required[c] ? c : kUnknownMark, covered);
    });
    return true;
  }

  // Replaces all characters but those required by the unknown mark.
  void cover(const std::vector<char32_t>& alphabet, SentenceOrder& order) {
    std::vector<bool> required(kCodePoints);
    for (const char32_t c : alphabet) required[c] = true;
    std::vector<uint32_t> covered_id(words_.size());
    std::string text;
    for (uint32_t id = 0; id < covered_id.size(); ++id) {
      covered_id[id] = cover_text(words_[id], required, text) ? words_.add(text) : id;
    }
    std::vector<Context> changed;
    contexts_.for_each([&](Context& c) {
      const Context covered{covered_id[c.word], covered_next(c.next, required), c.count};
      if (covered.word == c.word && covered.next == c.next) return;
      changed.push_back(covered);
      c.count = 0;
    });
    for (const Context& c : changed) contexts_.add(c.word, c.next, c.count);
    for (uint32_t& word : order.last) word = covered_id[word];
  }

  // A corpus in which every sentence is one word, from the words of each sentence.
  WordCounts join_sentences(SentenceOrder& order, bool uniform_starts) const {
    WordCounts joined;
    std::string text;
    for (size_t i = 0; i < order.last.size(); ++i) {
      text.clear();
      for (uint64_t k = order.word_begin[i]; k < order.word_begin[i + 1]; ++k) {
        text.append(words_[order.words[k]]);
      }
      order.last[i] = joined.words_.add(text);
      const uint64_t count = order.count.empty() ? 1 : order.count[i];
      const uint32_t first = uniform_starts ? uint32_t(kSpaceMark) : order.first[i];
      const uint64_t closed = uniform_starts ? count : count - 1;
      if (closed > 0) joined.contexts_.add(order.last[i], kSentenceEnd | first, closed);
    }
    return joined;
  }

  // Cuts the words into segments. The words come by count descending, then bytes
  // ascending, or as the sentences stand where `order` is given; that order fixes the lanes.
  void segment(const PieceRule& rule, const SentenceOrder* order, SegmentedCorpus& out);

 private:
  static uint32_t covered_next(uint32_t next, const std::vector<bool>& required) {
    if (next == kTextEnd) return next;
    const uint32_t c = next & ~kSentenceEnd;
    return (next & kSentenceEnd) | (required[c] ? c : uint32_t(kUnknownMark));
  }

  std::vector<uint64_t> word_totals() const {
    std::vector<uint64_t> totals(words_.size());
    contexts_.for_each([&](const Context& c) { totals[c.word] += c.count; });
    return totals;
  }

  static unsigned char lead_byte(char32_t c) {
    std::string text;
    append_utf8(c, text);
    return text[0];
  }
  static uint16_t tail_of(uint32_t next) {
    if (next == kTextEnd) return kTailTextEnd;
    const unsigned char byte = lead_byte(next & ~kSentenceEnd);
    return next & kSentenceEnd ? kTailSentenceEnd | byte : byte;
  }

  void sort_words(const std::vector<uint64_t>& totals, std::vector<uint32_t>& sequence) const;
  static void merge_units(const std::vector<Unit>& units, SegmentedCorpus& out);

  StringTable words_;
  ContextTable contexts_;
};

// By count descending, then bytes ascending. The first bytes are compared as numbers.
inline void WordCounts::sort_words(const std::vector<uint64_t>& totals,
                                   std::vector<uint32_t>& sequence) const {
  struct Key {
    uint64_t total, head, middle;
    uint32_t id;
  };
  std::vector<Key> keys;
  keys.reserve(sequence.size());
  for (const uint32_t id : sequence) {
    char bytes[16] = {};
    const std::string_view word = words_[id];
    std::memcpy(bytes, word.data(), std::min(word.size(), sizeof bytes));
    keys.push_back({totals[id], __builtin_bswap64(load<uint64_t>(bytes)),
                    __builtin_bswap64(load<uint64_t>(bytes + 8)), id});
  }
  std::sort(keys.begin(), keys.end(), [this](const Key& a, const Key& b) {
    if (a.total != b.total) return a.total > b.total;
    if (a.head != b.head) return a.head < b.head;
    if (a.middle != b.middle) return a.middle < b.middle;
    return words_[a.id] < words_[b.id];
  });
  for (size_t i = 0; i < keys.size(); ++i) sequence[i] = keys[i].id;
}

// Groups the units by segment and adds up those with the same tail.
inline void WordCounts::merge_units(const std::vector<Unit>& units, SegmentedCorpus& out) {
  std::vector<uint32_t> end(out.segments.size() + 1, 0);
  for (const Unit& unit : units) ++end[unit.segment + 1];
  for (size_t i = 1; i < end.size(); ++i) end[i] += end[i - 1];
  std::vector<Unit> grouped(units.size());
  for (const Unit& unit : units) grouped[end[unit.segment]++] = unit;
  for (size_t i = 0; i < grouped.size();) {
    size_t stop = i + 1;
    while (stop < grouped.size() && grouped[stop].segment == grouped[i].segment) ++stop;
    std::sort(grouped.begin() + i, grouped.begin() + stop,
              [](const Unit& a, const Unit& b) { return a.tail < b.tail; });
    for (const size_t first = out.units.size(); i < stop; ++i) {
      if (out.units.size() > first && out.units.back().tail == grouped[i].tail) {
        out.units.back().count += grouped[i].count;
      } else {
        out.units.push_back(grouped[i]);
      }
    }
  }
}

inline void WordCounts::segment(const PieceRule& rule, const SentenceOrder* order,
                                SegmentedCorpus& out) {
  words_.drop_index();
  const std::vector<uint64_t> totals = word_totals();
  std::vector<uint32_t> sequence;
  for (uint32_t id = 0; id < totals.size(); ++id) {
    if (totals[id] > 0) sequence.push_back(id);
  }
  sort_words(totals, sequence);

  std::vector<uint64_t> begin(words_.size()), end(words_.size());
  std::vector<uint32_t> parts;
  std::vector<Unit> units;
  for (const uint32_t id : sequence) {
    const std::string_view word = words_[id];
    begin[id] = parts.size();
    const char* stop = word.data() + word.size();
    const char* head = word.data();
    char32_t left = 0;
    for (const char* p = head; p < stop;) {
      size_t length;
      const char32_t right = decode_utf8(p, stop, &length);
      if (p > head && rule.parts(left, right)) {
        const uint32_t segment = out.segments.add(std::string_view(head, p - head));
        parts.push_back(segment);
        units.push_back({segment, static_cast<unsigned char>(*p), totals[id]});
        head = p;
      }
      left = right;
      p += length;
    }
    parts.push_back(out.segments.add(std::string_view(head, stop - head)));
    end[id] = parts.size();
  }
  contexts_.for_each([&](const Context& c) {
    if (c.count > 0) units.push_back({parts[end[c.word] - 1], tail_of(c.next), c.count});
  });
  out.segments.drop_index();

  merge_units(units, out);

  out.word_begin.assign(1, 0);
  const auto append_word = [&](uint32_t id, int64_t count) {
    out.word_segments.insert(out.word_segments.end(), parts.begin() + begin[id],
                             parts.begin() + end[id]);
    out.word_begin.push_back(out.word_segments.size());
    out.word_count.push_back(count);
  };
  if (order == nullptr) {
    for (const uint32_t id : sequence) append_word(id, totals[id]);
  } else {
    for (size_t i = 0; i < order->last.size(); ++i) {
      append_word(order->last[i], order->count.empty() ? 1 : order->count[i]);
    }
  }
}

}  // namespace spmcompat
