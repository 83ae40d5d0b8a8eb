// Seed pieces: the valid substrings of the text that are followed by different bytes.
//
// The reference sorts all suffixes of the text and takes the internal nodes of the suffix
// tree. A valid piece lies within one segment, and whether it branches, and how often it
// occurs, is decided by the distinct (segment, what follows) units alone. So only suffixes
// of distinct units are sorted, each cut behind the longest possible piece and the byte
// after it, and every suffix weighs what its unit weighs.
//
// Suffixes are put into buckets by their first two bytes. A candidate has at least two
// characters, hence two bytes, so a bucket is a piece of work of its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "piece_rule.hpp"
#include "pieces.hpp"
#include "word_counts.hpp"

namespace spmcompat {

inline float candidate_score(uint64_t count, size_t characters) {
  return static_cast<float>(count) * static_cast<float>(characters);
}

// Of candidates with equal scores the longer in bytes comes first, then bytes ascending.
inline bool better_of_equals(std::string_view a, std::string_view b) {
  return a.size() != b.size() ? a.size() > b.size() : a < b;
}

struct Candidate {
  uint64_t count;
  uint32_t begin;  // in the text of the units
  uint16_t bytes;
  uint16_t characters;

  float score() const { return candidate_score(count, characters); }
};

class SuffixNodes {
 public:
  // Keeps the `limit` best candidates.
  SuffixNodes(const SegmentedCorpus& corpus, const PieceRule& rule, size_t limit)
      : rule_(rule), limit_(limit) {
    add_units(corpus);
    fill_buckets();
  }

  size_t buckets() const { return order_.size(); }
  size_t bucket_size(size_t bucket) const {
    return bucket_begin_[order_[bucket] + 1] - bucket_begin_[order_[bucket]];
  }

  // Adds the candidates of one bucket to what a worker has found.
  void search(size_t bucket, std::vector<Candidate>& found) const {
    std::vector<Suffix> suffixes;
    load(bucket_begin_[order_[bucket]], bucket_begin_[order_[bucket] + 1], suffixes);
    sort(suffixes.data(), suffixes.data() + suffixes.size(), 2);
    walk(suffixes, found);
  }

  // The best of all that was found, in the order of the seeds.
  std::vector<Candidate> best(std::vector<std::vector<Candidate>>& found) const {
    std::vector<Candidate> all;
    for (std::vector<Candidate>& part : found) {
      all.insert(all.end(), part.begin(), part.end());
      std::vector<Candidate>().swap(part);
    }
    keep_best(all);
    std::sort(all.begin(), all.end(), Better{this});
    return all;
  }

  std::string_view piece_view(const Candidate& c) const {
    return std::string_view(text_.data() + c.begin, c.bytes);
  }
  std::string piece(const Candidate& c) const { return std::string(piece_view(c)); }

 private:
  struct Origin {
    uint32_t begin;
    uint32_t unit;
  };
  struct Suffix {
    uint64_t key;  // eight bytes from the current depth, zeros behind the end
    uint32_t begin;
    uint32_t unit;
    uint32_t size;  // up to the cut
  };
  struct Interval {
    size_t first;
    uint32_t depth;
    uint64_t extra;  // count of the same piece at the ends of sentences
  };
  struct Better {
    const SuffixNodes* nodes;
    bool operator()(const Candidate& a, const Candidate& b) const {
      const float x = a.score(), y = b.score();
      if (x != y) return x > y;
      return better_of_equals(nodes->piece_view(a), nodes->piece_view(b));
    }
  };

  void add_units(const SegmentedCorpus& corpus) {
    for (uint32_t i = 0; i < corpus.units.size(); ++i) {
      const Unit& unit = corpus.units[i];
      const std::string_view segment = corpus.segments[unit.segment];
      if (count_chars(segment) < 2) continue;
      begin_.push_back(static_cast<uint32_t>(text_.size()));
      text_.append(segment);
      segment_end_.push_back(static_cast<uint32_t>(text_.size()));
      weight_.push_back(unit.count);
      if (unit.tail >= kTailSentenceEnd) text_.push_back('\0');
      if (unit.tail < kTailTextEnd) text_.push_back(static_cast<char>(unit.tail & 0xff));
      if (text_.size() > 0xfffffff0u) {
        throw std::length_error("the distinct segments of the corpus exceed 4 GB");
      }
    }
    begin_.push_back(static_cast<uint32_t>(text_.size()));
    text_.append(8, '\0');  // keys are loaded eight bytes at a time
  }

  template <typename Function>
  void for_each_origin(Function function) const {
    for (uint32_t unit = 0; unit < segment_end_.size(); ++unit) {
      uint32_t p = begin_[unit];
      while (true) {
        const uint32_t next = p + char_size(text_[p]);
        if (next >= segment_end_[unit]) break;  // one character cannot begin a candidate
        function(p, unit);
        p = next;
      }
    }
  }

  size_t bucket_of(uint32_t p) const {
    return static_cast<unsigned char>(text_[p]) << 8 | static_cast<unsigned char>(text_[p + 1]);
  }

  void fill_buckets() {
    bucket_begin_.assign(0x10001, 0);
    for_each_origin([&](uint32_t p, uint32_t) { ++bucket_begin_[bucket_of(p) + 1]; });
    for (size_t b = 0; b < 0x10000; ++b) {
      if (bucket_begin_[b + 1] > 1) order_.push_back(static_cast<uint32_t>(b));
      bucket_begin_[b + 1] += bucket_begin_[b];
    }
    origins_.resize(bucket_begin_.back());
    std::vector<size_t> next(bucket_begin_.begin(), bucket_begin_.end() - 1);
    for_each_origin([&](uint32_t p, uint32_t unit) { origins_[next[bucket_of(p)]++] = {p, unit}; });
    const auto size = [&](uint32_t b) { return bucket_begin_[b + 1] - bucket_begin_[b]; };
    std::sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      return size(a) != size(b) ? size(a) > size(b) : a < b;
    });
  }

  void load(size_t first, size_t last, std::vector<Suffix>& suffixes) const {
    suffixes.clear();
    for (size_t i = first; i < last; ++i) {
      const Origin& origin = origins_[i];
      suffixes.push_back({0, origin.begin, origin.unit, cut(origin)});
    }
    load_keys(suffixes.data(), suffixes.data() + suffixes.size(), 2);
  }

  // The size of a suffix: the longest piece and one byte, or the segment and its tail.
  uint32_t cut(const Origin& origin) const {
    uint32_t p = origin.begin;
    for (size_t i = 0; i < rule_.max_length; ++i) {
      if (p >= segment_end_[origin.unit]) break;
      p += char_size(text_[p]);
    }
    const uint32_t end = p >= segment_end_[origin.unit] ? begin_[origin.unit + 1] : p + 1;
    return end - origin.begin;
  }

  void load_keys(Suffix* first, Suffix* last, uint32_t depth) const {
    for (; first != last; ++first) {
      uint64_t key = 0;
      if (first->size > depth) {
        std::memcpy(&key, text_.data() + first->begin + depth, 8);
        key = __builtin_bswap64(key);
        const uint32_t left = first->size - depth;
        if (left < 8) key &= ~uint64_t(0) << (64 - 8 * left);
      }
      first->key = key;
    }
  }

  // Sorts by bytes, zeros behind the end; of equal ones the shorter first.
  void sort(Suffix* first, Suffix* last, uint32_t depth) const {
    std::sort(first, last, [](const Suffix& a, const Suffix& b) { return a.key < b.key; });
    while (first != last) {
      Suffix* stop = first + 1;
      while (stop != last && stop->key == first->key) ++stop;
      if (stop - first > 1) {
        Suffix* longer = std::partition(
            first, stop, [depth](const Suffix& s) { return s.size <= depth + 8; });
        std::sort(first, longer,
                  [](const Suffix& a, const Suffix& b) { return a.size < b.size; });
        if (stop - longer > 1) {
          load_keys(longer, stop, depth + 8);
          sort(longer, stop, depth + 8);
        }
      }
      first = stop;
    }
  }

  uint32_t common_prefix(const Suffix& a, const Suffix& b) const {
    const uint32_t size = std::min(a.size, b.size);
    const char* x = text_.data() + a.begin;
    const char* y = text_.data() + b.begin;
    for (uint32_t i = 0; i < size; i += 8) {
      uint64_t p, q;
      std::memcpy(&p, x + i, 8);
      std::memcpy(&q, y + i, 8);
      if (p != q) return std::min<uint32_t>(size, i + __builtin_ctzll(p ^ q) / 8);
    }
    return size;
  }

  // Visits the intervals of equal prefixes, inner ones first.
  void walk(const std::vector<Suffix>& suffixes, std::vector<Candidate>& found) const {
    std::vector<uint64_t> before(1, 0);  // weight of the suffixes before each
    for (const Suffix& s : suffixes) before.push_back(before.back() + weight_[s.unit]);
    std::vector<Interval> stack(1, Interval{0, 0, 0});
    std::vector<char32_t> characters;
    for (size_t i = 1; i <= suffixes.size(); ++i) {
      const uint32_t depth =
          i < suffixes.size() ? common_prefix(suffixes[i - 1], suffixes[i]) : 0;
      size_t first = i - 1;
      uint64_t extra = 0;
      while (depth < stack.back().depth) {
        const Interval top = stack.back();
        stack.pop_back();
        first = top.first;
        const uint32_t outer = std::max(depth, stack.back().depth);
        extra = 0;
        const uint64_t count = before[i] - before[first];
        const Suffix& s = suffixes[first];
        if (ends_sentence(s, top.depth)) {
          if (outer == top.depth - 1) {
            extra = count;
          } else {
            add_candidate(s.begin, top.depth - 1, count, characters, found);
          }
        } else if (ends_character(s, top.depth)) {
          add_candidate(s.begin, top.depth, count + top.extra, characters, found);
        }
        if (extra > 0 && stack.back().depth == outer) {
          stack.back().extra += extra;
          extra = 0;
        }
      }
      if (depth > stack.back().depth) stack.push_back({first, depth, extra});
    }
    if (found.size() > 4 * limit_ + (1 << 20)) keep_best(found);
  }

  // A segment and the zero byte behind it: the reference counts it for the segment's end.
  bool ends_sentence(const Suffix& s, uint32_t depth) const {
    const uint32_t end = s.begin + depth;
    return end == segment_end_[s.unit] + 1 && text_[end - 1] == '\0';
  }
  bool ends_character(const Suffix& s, uint32_t depth) const {
    const uint32_t end = s.begin + depth;
    return end == segment_end_[s.unit] || (end < segment_end_[s.unit] && !is_trail(text_[end]));
  }

  void add_candidate(uint32_t begin, uint32_t bytes, uint64_t count,
                     std::vector<char32_t>& characters, std::vector<Candidate>& found) const {
    decode_text(std::string_view(text_.data() + begin, bytes), characters);
    if (characters.size() < 2 || !rule_.allows(characters.data(), characters.size())) return;
    found.push_back({count, begin, static_cast<uint16_t>(bytes),
                     static_cast<uint16_t>(characters.size())});
  }

  void keep_best(std::vector<Candidate>& found) const {
    if (found.size() <= limit_) return;
    std::nth_element(found.begin(), found.begin() + limit_, found.end(), Better{this});
    found.resize(limit_);
  }

  PieceRule rule_;
  size_t limit_;
  std::string text_;
  std::vector<uint32_t> begin_, segment_end_;  // of each unit
  std::vector<uint64_t> weight_;
  std::vector<Origin> origins_;  // by bucket
  std::vector<size_t> bucket_begin_;
  std::vector<uint32_t> order_;  // buckets, the largest first
};

// Scores that are counts become log probabilities; the sum is taken in double.
inline void to_log_probabilities(std::vector<float>& score) {
  double sum = 0.0;
  for (const float s : score) sum += s;
  const double log_sum = std::log(sum);
  for (float& s : score) s = static_cast<float>(std::log(static_cast<double>(s)) - log_sum);
}

}  // namespace spmcompat
