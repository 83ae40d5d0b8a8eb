// The search for candidates: the valid substrings of the text that are followed by at least two
// different symbols.
//
// The reference sorts all suffixes of the text and uses the inner nodes of the suffix tree;
// seed_tree.hpp describes the differences between releases. A valid piece does not cross the ends
// of a segment. So the count of a piece and the symbols that follow it depend only on the distinct
// segments, their counts, and the symbols that follow each segment. Therefore, only the suffixes of
// the distinct segments are sorted here. A suffix has the count of its segment. It is cut off after
// the length of the longest possible piece plus one symbol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/pieces.hpp"
#include "spmcompat/unigram/seeding/candidates.hpp"
#include "spmcompat/unigram/seeding/seed_tree.hpp"
#include "spmcompat/unigram/seeding/suffix_buckets.hpp"

namespace spmcompat {

// The rules by which substrings become candidates.
struct SeedMode {
  // If false, candidates are the substrings that are followed by at least two different symbols in
  // the text, as in the reference. If true, candidates are segments that occur at least twice, and
  // substrings that are followed by at least two different characters in the distinct segments. The
  // end of each segment counts as a character that occurs nowhere else.
  bool pretokens = false;
  // Whether a candidate that is not a valid piece is replaced by its longest valid prefix (Land and
  // Pinter, section 3.1).
  bool recover = false;
};

// The rules by which candidates become seeds.
struct SeedRule {
  SeedMode mode;
  size_t limit = 0;           // the largest number of candidates that become seeds
  float length_power = 1.0f;  // the exponent of the length in the score of a candidate
  float min_freq_alpha = 0.0f;
  int vocab_size = 0;
};

// The suffixes of a corpus, and the candidates that are found in them.
class SuffixTreeSearch {
 public:
  // Sorts the suffixes into groups. The corpus and the crew must outlive this object.
  SuffixTreeSearch(const SegmentedCorpus& corpus, double text_bytes, const PieceRule& pieces,
                   const SeedRule& rule, SeedTree tree, Crew& crew)
      : crew_(crew),
        corpus_(corpus),
        text_(corpus.segments.text()),
        groups_(group_suffixes(corpus.segments, crew)),
        rule_(pieces),
        mode_(rule.mode),
        tree_(tree),
        least_count_(least_count(rule.min_freq_alpha, text_bytes, rule.vocab_size)),
        scores_(pieces.max_piece_length, rule.length_power, tree.of_characters),
        bound_(rule.limit, scores_),
        found_(crew.size()) {
    segment_at_.reserve(corpus.segments.bytes() / kStride + 1);
    for (uint32_t segment = 0; segment < corpus.segments.size(); ++segment) {
      while (segment_at_.size() * kStride < corpus.segments.end(segment)) {
        segment_at_.push_back(segment);
      }
    }
  }

  static std::unique_ptr<SuffixTreeSearch> prepare(const SegmentedCorpus& corpus, double text_bytes,
                                                   const PieceRule& pieces, const SeedRule& rule,
                                                   SeedTree tree, Crew& crew) {
    return std::make_unique<SuffixTreeSearch>(corpus, text_bytes, pieces, rule, tree, crew);
  }

  // The number of suffixes.
  size_t size() const { return groups_.suffixes.size(); }

  // Finds the candidates in all suffixes. Reports the number of searched suffixes as progress.
  void find(Crew& crew) {
    crew.for_each(groups_.group_size.size(), [&](size_t group, size_t worker) {
      search(group, found_[worker]);
      crew.advance(groups_.group_size[group]);
    });
    std::vector<uint32_t>().swap(groups_.suffixes);
  }

  // The candidates that each worker has found.
  std::vector<std::vector<Candidate>>& found() { return found_; }
  const SeedTree& tree() const { return tree_; }
  const CandidateScores& scores() const { return scores_; }
  const ScoreBound& bound() const { return bound_; }
  bool reaches_bound(const Candidate& c) const { return bound_.reached_by(score(c)); }
  float score(const Candidate& c) const { return scores_.of(c.count, c.characters); }
  std::string_view text(const Candidate& c) const {
    return std::string_view(text_ + c.begin, c.bytes);
  }

 private:
  static constexpr uint32_t kStride = 32;          // bytes between two entries of segment_at_
  static constexpr size_t kPrefetchDistance = 16;  // in suffixes
  static constexpr size_t kCheckDistance = 4096;   // suffixes between two checks for Ctrl-C

  struct Suffix {
    uint64_t key;  // the text_key of the bytes that sort() compares next
    uint32_t begin;
    uint32_t segment;
    uint16_t size;  // the size in bytes; a suffix that is too long is cut off
    bool whole;     // whether the suffix was not cut off, and so reaches the end of its segment
  };
  // A node of the suffix tree. Its suffixes are being visited.
  struct Node {
    uint32_t depth;
    uint32_t begin;   // the start of one of the node's suffixes
    uint64_t before;  // the sum of the counts of all suffixes before the node's first suffix
    size_t first;     // the index of the node's first suffix
    bool is_segment;  // whether the node's first suffix is a whole segment
    Followers followers;
  };

  uint32_t segment_of(uint32_t p) const {
    uint32_t segment = segment_at_[p / kStride];
    while (corpus_.segments.end(segment) <= p) ++segment;
    return segment;
  }

  void load(const SuffixBucket& bucket, std::vector<Suffix>& suffixes) const {
    // A suffix is cut off after `cut` bytes: the longest possible piece and the symbol after it.
    const bool by_characters = mode_.pretokens || tree_.of_characters;
    const uint32_t cut =
        static_cast<uint32_t>(4 * rule_.max_piece_length + (by_characters ? 4 : 1));
    suffixes.clear();
    suffixes.reserve(bucket.size());
    for (uint32_t i = bucket.begin; i < bucket.end; ++i) {
      if (i + kPrefetchDistance < bucket.end) {
        __builtin_prefetch(&segment_at_[groups_.suffixes[i + kPrefetchDistance] / kStride]);
        __builtin_prefetch(text_ + groups_.suffixes[i + kPrefetchDistance]);
      }
      const uint32_t begin = groups_.suffixes[i];
      const uint32_t segment = segment_of(begin);
      const uint32_t left = corpus_.segments.end(segment) - begin;
      const uint16_t size = static_cast<uint16_t>(std::min(left, cut));
      suffixes.push_back({0, begin, segment, size, left <= cut});
    }
    load_keys(suffixes.data(), suffixes.data() + suffixes.size(), 0);
  }

  void load_keys(Suffix* first, Suffix* last, uint32_t depth) const {
    for (; first != last; ++first) {
      const char* rest = text_ + first->begin + depth;
      first->key = first->size > depth ? text_key(rest, first->size - depth) : 0;
    }
  }

  // Sorts by bytes, eight at a time. Segments do not contain zero bytes, so a suffix comes before
  // all suffixes that begin with it.
  void sort(Suffix* first, Suffix* last, uint32_t depth) const {
    crew_.check_cancelled();
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

  // The depth of the node where two suffixes diverge.
  uint32_t node_depth(const Suffix& a, const Suffix& b) const {
    return tree_.node_depth(text_ + b.begin, common_prefix(a, b));
  }

  // Adds the candidates in one group of buckets to `found`.
  void search(size_t group, std::vector<Candidate>& found) {
    std::vector<Suffix> suffixes;
    std::vector<Candidate> fresh;
    for (size_t i = groups_.group_begin[group]; i < groups_.group_begin[group + 1]; ++i) {
      load(groups_.buckets[i], suffixes);
      sort(suffixes.data(), suffixes.data() + suffixes.size(), 0);
      walk(suffixes, fresh);
    }
    bound_.add(fresh);
    for (const Candidate& candidate : fresh) {
      if (found.size() == found.capacity()) make_room(found);
      if (reaches_bound(candidate)) found.push_back(candidate);
    }
  }

  // Visits the nodes of the suffix tree, children before their parents. Equal suffixes share a
  // node.
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
      if (visited + kPrefetchDistance < suffixes.size()) {
        __builtin_prefetch(text_ + suffixes[visited + kPrefetchDistance].begin);
        __builtin_prefetch(&corpus_.uses[suffixes[visited + kPrefetchDistance].segment]);
      }
      if (visited % kCheckDistance == 0) crew_.check_cancelled();
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

  // How often the text of a node occurs.
  struct Occurrences {
    uint64_t count;   // the number of occurrences in the whole text
    size_t suffixes;  // the number of occurrences in the distinct segments
    uint32_t parent;  // the depth of the node's parent
  };

  void add_candidate(const Node& node, const Occurrences& seen, std::vector<char32_t>& characters,
                     std::vector<Candidate>& found) const {
    uint32_t size = node.depth;
    uint64_t count;
    // If a text occurs at least twice, then this text, or some longer text that begins with it, is
    // followed by different symbols.
    bool branches_later = seen.count > 1;
    if (mode_.pretokens) {
      branches_later = seen.suffixes > 1;
      size = trim_to_character(node.begin, size);
      const bool is_candidate = branches_later || (node.is_segment && seen.count > 1);
      count = is_candidate && size > seen.parent ? unless_rare(seen.count, size) : 0;
    } else {
      count = branching_count(node, seen.count);
    }
    if (count > 0 && add_if_valid(node.begin, size, count, characters, found)) return;
    if (mode_.recover && branches_later) recover(node, seen, characters, found);
  }

  // The size of a text in bytes, without an incomplete character at its end.
  uint32_t trim_to_character(uint32_t begin, uint32_t size) const {
    while (is_trail(text_[begin + size])) --size;
    return size;
  }

  // The count of a node if different symbols follow it, otherwise 0. In a tree of bytes, the text
  // of a node may end in the zero byte that ends a sentence. The reference removes this zero byte.
  // If the text without it is also a node, the reference adds up the two counts.
  uint64_t branching_count(const Node& node, uint64_t count) const {
    if (is_trail(text_[node.begin + node.depth])) return 0;
    const Followers& followers = node.followers;
    if (tree_.of_characters) return followers.next.many() ? count : cut_count(node, count);
    count = followers.next.many() ? unless_rare(count, node.depth) : 0;
    if (followers.after_end.many()) count += unless_rare(followers.at_end, node.depth + 1);
    return count;
  }

  // The count of a candidate that is always followed by the same symbol. Returns 0 unless the
  // release cuts the texts of nodes between the candidate and this symbol.
  uint64_t cut_count(const Node& node, uint64_t count) const {
    const std::string_view text(text_ + node.begin, node.depth);
    if (count < 2 || !tree_.cuts(text, node.followers.next.symbol(), rule_)) return 0;
    const auto found = corpus_.at_text_end.find(text);
    return found == corpus_.at_text_end.end() ? count : found->second;
  }

  // Adds a candidate. Returns false if the text is not a valid piece.
  bool add_if_valid(uint32_t begin, uint32_t size, uint64_t count,
                    std::vector<char32_t>& characters, std::vector<Candidate>& found) const {
    const std::string_view piece(text_ + begin, size);
    const size_t length = count_chars(piece);
    if (length < 2 || length > rule_.max_piece_length) return false;
    if (!mode_.recover && !bound_.reached_by(scores_.of(count, length))) return true;
    decode_text(piece, characters);
    if (!rule_.allows(characters.data(), length)) return false;
    found.push_back({count, begin, static_cast<uint16_t>(size), static_cast<uint16_t>(length)});
    return true;
  }

  // Adds the longest valid prefix of a node's text. A prefix that is not longer than the parent's
  // text belongs to the parent, and is not added here.
  void recover(const Node& node, const Occurrences& seen, std::vector<char32_t>& characters,
               std::vector<Candidate>& found) const {
    if (unless_rare(seen.count, node.depth) == 0) return;
    uint32_t size = trim_to_character(node.begin, node.depth);
    while (size > seen.parent && !add_if_valid(node.begin, size, seen.count, characters, found)) {
      size = trim_to_character(node.begin, size - 1);
    }
  }

  // Returns `count`, or 0 if a text of this count and size is too rare to be a candidate.
  uint64_t unless_rare(uint64_t count, uint32_t bytes) const {
    return bytes <= 3 || count >= least_count_ ? count : 0;
  }

  // Reserves space for another candidate. First drops the candidates below the bound.
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

  const Crew& crew_;
  const SegmentedCorpus& corpus_;
  const char* text_;
  SuffixGroups groups_;
  PieceRule rule_;
  SeedMode mode_;
  SeedTree tree_;
  uint64_t least_count_;
  CandidateScores scores_;
  ScoreBound bound_;
  std::vector<std::vector<Candidate>> found_;  // the candidates of each worker
  std::vector<uint32_t> segment_at_;           // the segment of every kStride-th byte of the text
};

}  // namespace spmcompat
