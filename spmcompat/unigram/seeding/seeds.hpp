// Seed pieces: the valid substrings of the text that are followed by different symbols.
//
// The reference sorts all suffixes of the text and takes the internal nodes of the suffix
// tree; seed_tree.hpp tells how the releases differ there. A valid piece lies within one
// segment, and whether it branches, and how often it occurs, is decided by the distinct
// segments and what follows each of them alone. So only suffixes of distinct segments are
// sorted, each cut behind the longest possible piece and the symbol after it, and every
// suffix weighs what its segment weighs.
//
// Suffixes are put into buckets by their first character. A candidate has at least two, so
// every bucket is searched by itself; small ones make up a task together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unigram/pieces.hpp"
#include "spmcompat/unigram/seeding/seed_tree.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"

namespace spmcompat {

// What a candidate scores: its count times a power of its length. A whole number is rounded once.
class CandidateScores {
 public:
  CandidateScores(size_t longest, float length_power, bool whole) : whole_(whole) {
    for (size_t length = 0; length <= longest; ++length) {
      weight_.push_back(weight(static_cast<float>(length), length_power));
    }
  }

  float of(uint64_t count, size_t characters) const {
    if (whole_) return static_cast<float>(count * characters);
    return static_cast<float>(count) * weight_[characters];
  }

  // A number that is the greater, the better the candidate is: the whole number, or the bits of
  // the score, which order positive floats.
  uint64_t rank(uint64_t count, size_t characters) const {
    if (whole_) return count * characters;
    const float score = of(count, characters);
    uint32_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    return bits;
  }

 private:
  // As the reference rounds it.
  static float weight(float length, float power) {
    return power == 0.5f ? std::sqrt(length) : std::pow(length, power);
  }

  bool whole_;
  std::vector<float> weight_;  // by length in characters
};

// The least count of a candidate of more than three bytes. By Zipf's law, alpha = 1 is about what
// the last piece of the vocabulary occurs in a text of so many bytes.
inline uint64_t least_count(float alpha, double text_bytes, int vocab_size) {
  const float size = static_cast<float>(std::max(vocab_size, 1));
  const float count =
      alpha * static_cast<float>(text_bytes) / std::max(1.0f, size * std::log(size));
  // What fits no integer becomes what x86-64 makes of it.
  if (!(count > -1.0f)) return std::numeric_limits<uint64_t>::max();
  return count < 0x1p64f ? static_cast<uint64_t>(count) : 0;
}

struct Candidate {
  uint64_t count;
  uint32_t begin;  // in the text of the segments
  uint16_t bytes;
  uint16_t characters;
};

// A lower bound of the final `limit`-th best score, which rises while candidates are found.
// Scores are counted in bins; workers may use it at the same time.
class ScoreBound {
 public:
  ScoreBound(size_t limit, const CandidateScores& scores)
      : limit_(limit), scores_(scores), count_(kBins) {}

  bool reached_by(float score) const {
    return bin_of(score) >= lowest_.load(std::memory_order_relaxed);
  }

  void add(const std::vector<Candidate>& candidates) {
    const std::lock_guard<std::mutex> lock(mutex_);
    uint32_t lowest = lowest_.load(std::memory_order_relaxed);
    for (const Candidate& candidate : candidates) {
      const uint32_t bin = bin_of(scores_.of(candidate.count, candidate.characters));
      if (bin < lowest) continue;
      ++count_[bin];
      ++above_;
    }
    while (lowest < kBins && above_ - count_[lowest] >= limit_) above_ -= count_[lowest++];
    lowest_.store(lowest, std::memory_order_relaxed);
  }

  // Positive floats are ordered as their bits are; nine bits of the mantissa are enough. Only a
  // NaN may have a sign.
  static uint32_t bin_of(float score) {
    uint32_t bits;
    std::memcpy(&bits, &score, sizeof bits);
    return (bits & 0x7fffffff) >> 14;
  }

  // Divides the bins, the highest first, into parts of about equally many candidates.
  std::vector<uint32_t> divide(size_t parts) const {
    std::vector<uint32_t> part_of(kBins, 0);
    size_t passed = 0;
    for (uint32_t bin = kBins; bin-- > lowest_;) {
      part_of[bin] = std::min(passed * parts / std::max<size_t>(above_, 1), parts - 1);
      passed += count_[bin];
    }
    return part_of;
  }

 private:
  static constexpr uint32_t kBins = 1 << 17;

  size_t limit_;
  const CandidateScores& scores_;
  std::mutex mutex_;
  std::vector<size_t> count_;        // by bin
  size_t above_ = 0;                 // in the bins from the lowest on
  std::atomic<uint32_t> lowest_{0};  // bin
};

// Which substrings are candidates. As in the reference, those that different bytes follow in the
// text; or, of the segments by themselves, those that different characters or ends of segments
// follow, and whole segments. Of a substring that is found but is no valid piece, its longest valid
// prefix can be taken instead (Land and Pinter, section 3.1).
struct SeedMode {
  bool pretokens = false;
  bool recover = false;
};

class SuffixNodes {
 public:
  // Keeps the `limit` best candidates; those of more than three bytes must occur `least_count`
  // times. The corpus must outlive this object.
  SuffixNodes(const SegmentedCorpus& corpus, const PieceRule& rule, SeedMode mode, SeedTree tree,
              size_t limit, float length_power, uint64_t least_count)
      : corpus_(corpus),
        text_(corpus.segments.text()),
        rule_(rule),
        mode_(mode),
        tree_(tree),
        limit_(limit),
        least_count_(least_count),
        scores_(rule.max_length, length_power, tree.of_characters),
        bound_(limit, scores_) {
    segment_at_.reserve(corpus.segments.bytes() / kStride + 1);
    for (uint32_t segment = 0; segment < corpus.segments.size(); ++segment) {
      while (segment_at_.size() * kStride < corpus.segments.end(segment)) {
        segment_at_.push_back(segment);
      }
    }
  }

  // Suffixes are put into buckets in two rounds over the parts of the text: all parts are
  // counted, then lay_out is called, then all parts are filled in.
  void begin(size_t parts) { bucket_end_.resize(parts); }
  void count(size_t part) {
    bucket_end_[part].assign(kBuckets, 0);
    for_each_suffix(part, [&](uint32_t p) { ++bucket_end_[part][bucket_of(p)]; });
  }
  void lay_out() {
    uint32_t end = 0;
    for (uint32_t bucket = 0; bucket < kBuckets; ++bucket) {
      const uint32_t begin = end;
      for (std::vector<uint32_t>& part : bucket_end_) end += std::exchange(part[bucket], end);
      if (end > begin) buckets_.push_back({begin, end, bucket});
    }
    suffixes_.resize(end);
    std::sort(buckets_.begin(), buckets_.end(), [](const Bucket& a, const Bucket& b) {
      return a.size() != b.size() ? a.size() > b.size() : a.begin < b.begin;
    });
    group_begin_.push_back(0);
    size_t size = 0;
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      size += buckets_[bucket].size();
      if (size < kGroup && bucket + 1 < buckets_.size()) continue;
      group_begin_.push_back(bucket + 1);
      group_size_.push_back(size);
      size = 0;
    }
  }
  void fill(size_t part) {
    for_each_suffix(part, [&](uint32_t p) { suffixes_[bucket_end_[part][bucket_of(p)]++] = p; });
    std::vector<uint32_t>().swap(bucket_end_[part]);
  }

  // Of each group of buckets how many suffixes it holds.
  const std::vector<size_t>& group_sizes() const { return group_size_; }

  // Adds the candidates of one group to what a worker has found.
  void search(size_t group, std::vector<Candidate>& found) {
    std::vector<Suffix> suffixes;
    std::vector<Candidate> fresh;
    for (size_t bucket = group_begin_[group]; bucket < group_begin_[group + 1]; ++bucket) {
      load(buckets_[bucket], suffixes);
      sort(suffixes.data(), suffixes.data() + suffixes.size(), 0);
      walk(suffixes, fresh);
    }
    bound_.add(fresh);
    for (const Candidate& candidate : fresh) {
      if (found.size() == found.capacity()) make_room(found);
      if (reaches_bound(candidate)) found.push_back(candidate);
    }
  }

  // What was found comes into the order of the seeds: gather, then sort for each part.
  void gather(std::vector<std::vector<Candidate>>& found, size_t parts) {
    std::vector<uint32_t>().swap(suffixes_);
    const std::vector<uint32_t> part_of = bound_.divide(parts);
    std::vector<size_t> end(parts, 0);
    for (const std::vector<Candidate>& some : found) {
      for (const Candidate& c : some) {
        if (reaches_bound(c)) ++end[part_of[bin_of(c)]];
      }
    }
    part_begin_.assign(1, 0);
    for (size_t& size : end) {
      const size_t begin = part_begin_.back();
      part_begin_.push_back(begin + std::exchange(size, begin));
    }
    best_.resize(part_begin_.back());
    for (std::vector<Candidate>& some : found) {
      for (const Candidate& c : some) {
        if (reaches_bound(c)) best_[end[part_of[bin_of(c)]]++] = c;
      }
      std::vector<Candidate>().swap(some);
    }
  }
  void sort_part(size_t part) {
    Candidate* first = best_.data() + part_begin_[part];
    Candidate* last = best_.data() + part_begin_[part + 1];
    std::vector<Ranked> ranked;
    ranked.reserve(last - first);
    for (const Candidate* c = first; c != last; ++c) {
      const uint64_t head = tree_.head(key_at(c->begin, c->bytes), c->bytes);
      ranked.push_back({scores_.rank(c->count, c->characters), head, *c});
    }
    std::sort(ranked.begin(), ranked.end(), [this](const Ranked& a, const Ranked& b) {
      if (a.rank != b.rank) return a.rank > b.rank;
      if (a.head != b.head && tree_.heads_decide(a.candidate.bytes, b.candidate.bytes)) {
        return a.head < b.head;
      }
      return tree_.better_of_equals(piece_view(a.candidate), piece_view(b.candidate));
    });
    for (const Ranked& r : ranked) *first++ = r.candidate;
  }
  // The best after that.
  size_t size() const { return std::min(limit_, best_.size()); }
  const Candidate& operator[](size_t i) const { return best_[i]; }

  std::string_view piece_view(const Candidate& c) const {
    return std::string_view(text_ + c.begin, c.bytes);
  }
  float score(const Candidate& c) const { return scores_.of(c.count, c.characters); }

 private:
  static constexpr uint32_t kStride = 32;  // bytes
  static constexpr uint32_t kBuckets = 0x10001;
  static constexpr size_t kGroup = 1 << 14;  // suffixes that are worth a task
  static constexpr size_t kAhead = 16;       // suffixes whose text is fetched while others are read

  struct Bucket {
    uint32_t begin, end;  // of its suffixes
    uint32_t character;   // or all of those beyond the Basic Multilingual Plane

    uint32_t size() const { return end - begin; }
  };
  struct Suffix {
    uint64_t key;  // eight bytes from the current depth, zeros behind the end
    uint32_t begin;
    uint32_t segment;
    uint16_t size;  // up to the cut
    bool whole;     // up to the end of the segment
  };
  // A node of the suffix tree whose suffixes are being visited.
  struct Node {
    uint32_t depth;
    uint32_t begin;   // of one of its suffixes
    uint64_t before;  // count of all suffixes before it
    size_t first;     // of its suffixes
    bool is_segment;  // its first suffix is a whole segment
    Followers followers;
  };
  struct Ranked {
    uint64_t rank;
    uint64_t head;  // the first bytes, as a number
    Candidate candidate;
  };

  bool reaches_bound(const Candidate& c) const { return bound_.reached_by(score(c)); }
  uint32_t bin_of(const Candidate& c) const { return ScoreBound::bin_of(score(c)); }

  unsigned char byte_at(uint32_t p) const { return static_cast<unsigned char>(text_[p]); }

  template <typename Function>
  void for_each_suffix(size_t part, Function function) const {
    const uint64_t segments = corpus_.segments.size();
    const uint32_t last = segments * (part + 1) / bucket_end_.size();
    for (uint32_t segment = segments * part / bucket_end_.size(); segment < last; ++segment) {
      const uint32_t end = corpus_.segments.end(segment);
      uint32_t p = corpus_.segments.begin(segment);
      // One character cannot begin a candidate.
      for (uint32_t next; (next = p + char_size(text_[p])) < end; p = next) function(p);
    }
  }

  uint32_t bucket_of(uint32_t p) const {
    const auto bits = [this, p](size_t i, int mask) -> uint32_t { return byte_at(p + i) & mask; };
    switch (char_size(text_[p])) {
      case 1: return bits(0, 0x7f);
      case 2: return bits(0, 0x1f) << 6 | bits(1, 0x3f);
      case 3: return bits(0, 0x0f) << 12 | bits(1, 0x3f) << 6 | bits(2, 0x3f);
      default: return kBuckets - 1;
    }
  }

  uint32_t segment_of(uint32_t p) const {
    uint32_t segment = segment_at_[p / kStride];
    while (corpus_.segments.end(segment) <= p) ++segment;
    return segment;
  }

  void load(const Bucket& bucket, std::vector<Suffix>& suffixes) const {
    // No piece is longer, with what follows it: a byte, or a character.
    const bool by_characters = mode_.pretokens || tree_.of_characters;
    const uint32_t cut = static_cast<uint32_t>(4 * rule_.max_length + (by_characters ? 4 : 1));
    suffixes.clear();
    suffixes.reserve(bucket.size());
    for (uint32_t i = bucket.begin; i < bucket.end; ++i) {
      if (i + kAhead < bucket.end) {
        __builtin_prefetch(&segment_at_[suffixes_[i + kAhead] / kStride]);
        __builtin_prefetch(text_ + suffixes_[i + kAhead]);
      }
      const uint32_t begin = suffixes_[i];
      const uint32_t segment = segment_of(begin);
      const uint32_t left = corpus_.segments.end(segment) - begin;
      const uint16_t size = static_cast<uint16_t>(std::min(left, cut));
      suffixes.push_back({0, begin, segment, size, left <= cut});
    }
    load_keys(suffixes.data(), suffixes.data() + suffixes.size(), 0);
  }

  // Up to eight bytes as a number, zeros behind the end.
  uint64_t key_at(uint32_t begin, uint32_t size) const {
    uint64_t key;
    std::memcpy(&key, text_ + begin, 8);
    key = __builtin_bswap64(key);
    return size < 8 ? key & ~uint64_t(0) << (64 - 8 * size) : key;
  }
  void load_keys(Suffix* first, Suffix* last, uint32_t depth) const {
    for (; first != last; ++first) {
      first->key = first->size > depth ? key_at(first->begin + depth, first->size - depth) : 0;
    }
  }

  // Sorts by bytes. No segment holds a zero byte, so a suffix comes before all that it begins.
  void sort(Suffix* first, Suffix* last, uint32_t depth) const {
    std::sort(first, last, [](const Suffix& a, const Suffix& b) { return a.key < b.key; });
    while (first != last) {
      Suffix* stop = first + 1;
      while (stop != last && stop->key == first->key) ++stop;
      if (stop - first > 1 && (first->key & 0xff) != 0) {
        load_keys(first, stop, depth + 8);
        sort(first, stop, depth + 8);
      }
      first = stop;
    }
  }

  uint32_t common_prefix(const Suffix& a, const Suffix& b) const {
    const uint32_t size = std::min(a.size, b.size);
    const char* x = text_ + a.begin;
    const char* y = text_ + b.begin;
    for (uint32_t i = 0; i < size; i += 8) {
      uint64_t p, q;
      std::memcpy(&p, x + i, 8);
      std::memcpy(&q, y + i, 8);
      if (p != q) return std::min<uint32_t>(size, i + __builtin_ctzll(p ^ q) / 8);
    }
    return size;
  }

  // Of the node where two suffixes part.
  uint32_t node_depth(const Suffix& a, const Suffix& b) const {
    return tree_.node_depth(text_ + b.begin, common_prefix(a, b));
  }

  // Visits the nodes, inner ones first. Equal suffixes are one node.
  void walk(const std::vector<Suffix>& suffixes, std::vector<Candidate>& found) const {
    std::vector<Node> open(1, Node{});
    std::vector<char32_t> characters;
    uint64_t count = 0;
    size_t visited = 0;
    const auto close = [&](uint32_t depth) {
      while (open.back().depth > depth) {
        const Node node = open.back();
        open.pop_back();
        const uint32_t parent = std::max(open.back().depth, depth);
        add_candidate(node, {count - node.before, visited - node.first, parent}, characters, found);
        if (open.back().depth < depth) {
          open.push_back({depth, node.begin, node.before, node.first, false, {}});
        }
        open.back().followers.next.add(tree_.symbol_at(text_ + node.begin + open.back().depth));
      }
    };
    for (; visited < suffixes.size(); ++visited) {
      if (visited + kAhead < suffixes.size()) {
        __builtin_prefetch(text_ + suffixes[visited + kAhead].begin);
        __builtin_prefetch(&corpus_.uses[suffixes[visited + kAhead].segment]);
      }
      const Suffix& suffix = suffixes[visited];
      const uint32_t depth = visited > 0 ? node_depth(suffixes[visited - 1], suffix) : 0;
      if (depth < suffix.size) {
        close(depth);
        open.push_back({suffix.size, suffix.begin, count, visited, is_segment(suffix), {}});
      }
      const SegmentUse& use = corpus_.uses[suffix.segment];
      if (suffix.whole) open.back().followers.add(use.followers);
      count += use.count;
    }
    close(0);
  }

  bool is_segment(const Suffix& suffix) const {
    return suffix.whole && suffix.begin == corpus_.segments.begin(suffix.segment);
  }

  // How often a node occurs: in the text, at places of distinct segments; and how deep the node
  // is that it hangs on.
  struct Occurrences {
    uint64_t count;
    size_t suffixes;
    uint32_t parent;
  };

  void add_candidate(const Node& node, const Occurrences& seen, std::vector<char32_t>& characters,
                     std::vector<Candidate>& found) const {
    uint32_t size = node.depth;
    uint64_t count;
    // Whatever occurs twice in the whole text begins a substring that branches there.
    bool branches_later = seen.count > 1;
    if (mode_.pretokens) {
      branches_later = seen.suffixes > 1;
      size = character_begin(node.begin, size);
      const bool is_candidate = branches_later || (node.is_segment && seen.count > 1);
      count = is_candidate && size > seen.parent ? enough(seen.count, size) : 0;
    } else {
      count = branching_count(node, seen.count);
    }
    if (count > 0 && add_valid(node.begin, size, count, characters, found)) return;
    if (mode_.recover && branches_later) recover(node, seen, characters, found);
  }

  uint32_t character_begin(uint32_t begin, uint32_t size) const {
    while (is_trail(text_[begin + size])) --size;
    return size;
  }

  // In a tree of bytes, a text with the zero byte behind it is taken for the text itself, and the
  // counts of both are added up where both are nodes.
  uint64_t branching_count(const Node& node, uint64_t count) const {
    if (is_trail(text_[node.begin + node.depth])) return 0;
    const Followers& followers = node.followers;
    if (tree_.of_characters) return followers.next.many() ? count : cut_count(node, count);
    count = followers.next.many() ? enough(count, node.depth) : 0;
    if (followers.behind_end.many()) count += enough(followers.at_end, node.depth + 1);
    return count;
  }

  // The count of a text that one symbol follows, if nodes are cut there.
  uint64_t cut_count(const Node& node, uint64_t count) const {
    const std::string_view text(text_ + node.begin, node.depth);
    if (count < 2 || !tree_.cuts(text, node.followers.next.symbol(), rule_)) return 0;
    const auto found = corpus_.at_text_end.find(text);
    return found == corpus_.at_text_end.end() ? count : found->second;
  }

  // Returns whether the text may be a piece.
  bool add_valid(uint32_t begin, uint32_t size, uint64_t count, std::vector<char32_t>& characters,
                 std::vector<Candidate>& found) const {
    const std::string_view piece(text_ + begin, size);
    const size_t length = count_chars(piece);
    if (length < 2 || length > rule_.max_length) return false;
    if (!mode_.recover && !bound_.reached_by(scores_.of(count, length))) return true;
    decode_text(piece, characters);
    if (!rule_.allows(characters.data(), length)) return false;
    found.push_back({count, begin, static_cast<uint16_t>(size), static_cast<uint16_t>(length)});
    return true;
  }

  // Adds the longest valid prefix of a node. One that is no longer than the parent belongs to
  // other nodes too, and is theirs.
  void recover(const Node& node, const Occurrences& seen, std::vector<char32_t>& characters,
               std::vector<Candidate>& found) const {
    if (enough(seen.count, node.depth) == 0) return;
    uint32_t size = character_begin(node.begin, node.depth);
    while (size > seen.parent && !add_valid(node.begin, size, seen.count, characters, found)) {
      size = character_begin(node.begin, size - 1);
    }
  }

  // The count of so many bytes, or 0 if it is too small.
  uint64_t enough(uint64_t count, uint32_t bytes) const {
    return bytes <= 3 || count >= least_count_ ? count : 0;
  }

  void make_room(std::vector<Candidate>& found) const {
    drop_hopeless(found);
    if (found.size() >= found.capacity() / 4 * 3) {
      found.reserve(found.size() + found.size() / 2 + 64);
    }
  }

  void drop_hopeless(std::vector<Candidate>& found) const {
    const auto hopeless = [this](const Candidate& c) { return !reaches_bound(c); };
    found.erase(std::remove_if(found.begin(), found.end(), hopeless), found.end());
  }

  const SegmentedCorpus& corpus_;
  const char* text_;
  PieceRule rule_;
  SeedMode mode_;
  SeedTree tree_;
  size_t limit_;
  uint64_t least_count_;
  CandidateScores scores_;
  ScoreBound bound_;
  std::vector<uint32_t> segment_at_;               // of every kStride-th byte
  std::vector<std::vector<uint32_t>> bucket_end_;  // by part and bucket, while they are filled
  std::vector<uint32_t> suffixes_;                 // where they begin, by bucket
  std::vector<Bucket> buckets_;                    // the largest first
  std::vector<size_t> group_begin_;                // group -> range of buckets_
  std::vector<size_t> group_size_;                 // in suffixes
  std::vector<Candidate> best_;
  std::vector<size_t> part_begin_;                 // part -> range of best_
};

// Adds the best candidates, the scores not being probabilities yet.
inline void add_pieces(const SuffixNodes& nodes, Pieces& pieces) {
  size_t bytes = 0;
  for (uint32_t id = 0; id < pieces.size(); ++id) bytes += pieces[id].size();
  for (size_t i = 0; i < nodes.size(); ++i) bytes += nodes[i].bytes;
  pieces.reserve(pieces.size() + nodes.size(), bytes);
  for (size_t i = 0; i < nodes.size(); ++i) {
    pieces.add(nodes.piece_view(nodes[i]), nodes.score(nodes[i]));
  }
}

}  // namespace spmcompat
