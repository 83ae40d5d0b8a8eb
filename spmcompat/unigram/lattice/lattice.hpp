// The lattices of all distinct segments, compact and built once.
//
// A lattice stores one number for each position: the first node of the position, from which prefix
// links lead to its other nodes. The first node is the longest match, or the unknown piece if no
// piece of a single character matches. The passes list the nodes when they need them, position
// after position, from the longest piece of a position to the shortest. Read backward, that list
// has the shortest piece first and the unknown piece last. The reference adds its terms in this
// order, so the sums have the same bits. In the forward direction, only the order of the positions
// matters.
//
// After an M-step or a pruning, only the ids of the nodes change (renumber). No text is searched
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/lattice/processors.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// A view of the lattice of one segment.
struct LatticeView {
  const uint32_t* first_nodes;  // the first node of every position
  uint32_t length;              // the length of the segment in characters
};

// The position of one occurrence of a piece in the lattices.
struct NodePosition {
  uint32_t segment = kNowhere;
  uint32_t begin = 0;  // the index of the piece's first character in the segment

  bool known() const { return segment != kNowhere; }

 private:
  static constexpr uint32_t kNowhere = 0xffffffffu;
};

// The lattices of a corpus over the current pieces.
class Lattices {
 public:
  Lattices() = default;

  // The corpus must not change, except that its texts may be dropped. `with_log1p` selects one of
  // the reference's two expressions for log-sum-exp (exact_log_sum_exp). The kernels for AVX2 run
  // if the processor has AVX2 and the environment variable SPMCOMPAT_AVX2 is not 0.
  static Lattices build(const SegmentedCorpus& corpus, const Pieces& pieces, bool with_log1p,
                        Crew& crew) {
    Lattices result;
    result.corpus_ = &corpus;
    const char* avx2 = std::getenv("SPMCOMPAT_AVX2");
    result.arithmetic_.avx2 = has_avx2() && (avx2 == nullptr || avx2 != std::string_view("0"));
    result.arithmetic_.log_sum_exp = exact_log_sum_exp(with_log1p);
    for (const int64_t count : corpus.pretoken_count) result.total_count_ += count;
    result.lay_out(pieces.size(), crew);
    result.find_longest_matches(pieces, crew);
    return result;
  }

  // Training can continue independently with the copy and with the original.
  Lattices copy() const { return *this; }

  // Replaces the pieces of the lattices by new pieces. `new_ids` contains the new id of each old
  // piece, or kDropped, and as its last item the new id of the unknown piece.
  void renumber(const Pieces& pieces, const std::vector<uint32_t>& new_ids, Crew& crew) {
    bool is_unchanged = true;
    for (uint32_t id = 0; id < new_ids.size(); ++id) is_unchanged &= new_ids[id] == id;
    if (is_unchanged) {
      rescore(pieces);
    } else {
      renumber_nodes(links_.keep(pieces, new_ids, crew), crew);
    }
  }

  // Changes the scores of the pieces.
  void rescore(const Pieces& pieces) { links_.rescore(pieces); }

  const SegmentedCorpus& corpus() const { return *corpus_; }
  const Arithmetic& arithmetic() const { return arithmetic_; }
  int64_t total_count() const { return total_count_; }  // pretokens in the text, with repetitions
  const PrefixLinks& links() const { return links_; }

  LatticeView operator[](size_t segment) const {
    return {first_nodes_.data() + begin_[segment], begin_[segment + 1] - begin_[segment]};
  }

  // Prefetch a segment that will be read soon: prefetch_begin first, prefetch_nodes later.
  void prefetch_begin(size_t segment) const { __builtin_prefetch(begin_.data() + segment); }
  void prefetch_nodes(size_t segment) const {
    __builtin_prefetch(first_nodes_.data() + begin_[segment]);
  }

 private:
  static constexpr size_t kRange = 1 << 14;  // segments or positions that a worker takes at a time

  // Makes the unknown piece the only node of every position.
  void lay_out(uint32_t unknown, Crew& crew) {
    const StringList& segments = corpus_->segments;
    begin_.resize(segments.size() + 1);
    crew.for_each_range(segments.size(), kRange, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) begin_[i + 1] = count_chars(segments[i]);
    });
    std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
    first_nodes_.assign(begin_.back(), unknown);
  }

  // Finds the longest match at every position.
  void find_longest_matches(const Pieces& pieces, Crew& crew) {
    // Pieces are divided into parts by their first character. The character at a position
    // determines the part whose pieces may begin there. The text of all segments is scanned once
    // for each part, so there are no more parts than the workers need.
    uint32_t parts = 8;
    while (parts < 2 * crew.size() && parts < PieceTrie::kMostParts) parts *= 2;
    std::vector<uint32_t> prefixes(pieces.size(), PieceTrie::kNone);
    crew.for_each(parts, [&](uint32_t part) {
      find_longest_of_part(PieceTrie(pieces, part, parts, &prefixes), crew);
    });
    std::vector<uint32_t> first_nodes;
    links_ = PrefixLinks(pieces, prefixes, first_nodes, crew);
    if (!first_nodes.empty()) renumber_nodes(first_nodes, crew);
  }

  void find_longest_of_part(const PieceTrie& trie, const Crew& crew) {
    const StringList& segments = corpus_->segments;
    const char* const text = segments.text();
    uint32_t segment = 0;
    std::vector<PieceTrie::Lookup> lookups;
    trie.for_each_of_part({text, segments.bytes()}, [&](const char* at, size_t position) {
      while (text + segments.end(segment) <= at) ++segment;
      lookups.push_back(trie.lookup(at, text + segments.end(segment), &first_nodes_[position]));
      if (lookups.size() < PieceTrie::kInterleaved) return;
      crew.check_cancelled();
      trie.find_longest(lookups);
    });
    trie.find_longest(lookups);
  }

  // Replaces each node by `new_nodes[node]`.
  void renumber_nodes(const std::vector<uint32_t>& new_nodes, Crew& crew) {
    crew.for_each_range(first_nodes_.size(), kRange, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) first_nodes_[i] = new_nodes[first_nodes_[i]];
    });
  }

  const SegmentedCorpus* corpus_ = nullptr;
  Arithmetic arithmetic_;
  int64_t total_count_ = 0;
  std::vector<uint32_t> first_nodes_;  // the first node of every position
  std::vector<uint32_t> begin_;  // the first position of each segment, and the end of the last one
  PrefixLinks links_;
};

}  // namespace spmcompat
