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
// again. Segments are stored in lattice blocks, which workers build and renumber independently.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <utility>
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

class LatticeBlock {
 public:
  // Reserves space for segments with these lengths in characters. At first, the unknown piece is
  // the only node of every position.
  void lay_out(const std::vector<uint32_t>& lengths, uint32_t unknown) {
    size_t positions = 0;
    begin_.reserve(lengths.size() + 1);
    for (const uint32_t length : lengths) {
      begin_.push_back({offset(positions), 0});
      positions += length;
    }
    begin_.push_back({offset(positions), 0});
    first_nodes_.assign(positions, unknown);
  }

  // Finds the longest match at every position where a piece of the trie may begin. The block
  // contains the segments from `segment` to `last`. `lookups` is working memory, which is empty
  // before and after a call.
  void find_longest(const StringList& segments, uint32_t segment, uint32_t last,
                    const PieceTrie& trie, std::vector<PieceTrie::Lookup>& lookups,
                    const Crew& crew) {
    const char* const text = segments.text();
    const uint32_t begin = segments.begin(segment);
    const std::string_view texts(text + begin, segments.end(last) - begin);
    trie.for_each_of_part(texts, [&](const char* at, size_t position) {
      while (text + segments.end(segment) <= at) ++segment;
      lookups.push_back(trie.lookup(at, text + segments.end(segment), &first_nodes_[position]));
      if (lookups.size() < PieceTrie::kInterleaved) return;
      crew.check_cancelled();
      trie.find_longest(lookups);
    });
    trie.find_longest(lookups);
  }

  // Replaces each node by `new_nodes[node]`.
  void renumber(const std::vector<uint32_t>& new_nodes) {
    for (uint32_t& node : first_nodes_) node = new_nodes[node];
  }

  // Returns a copy without the alphas, which the next pass recomputes.
  LatticeBlock copy() const {
    LatticeBlock result;
    result.first_nodes_ = first_nodes_;
    result.begin_ = begin_;
    for (Begin& begin : result.begin_) begin.alpha = 0;
    return result;
  }

  LatticeView operator[](size_t segment) const {
    const Begin& here = begin_[segment];
    return {first_nodes_.data() + here.position, begin_[segment + 1].position - here.position};
  }

  void prefetch_begin(size_t segment) const { __builtin_prefetch(begin_.data() + segment); }
  void prefetch_nodes(size_t segment) const {
    __builtin_prefetch(first_nodes_.data() + begin_[segment].position);
  }

  // Reserves space for the alphas of some segments: for each segment, one float for each position
  // and one for the end. An additional float at index 0 precedes them as a scratch slot.
  float* reserve_alphas(const std::vector<uint32_t>& segments) {
    size_t size = 1;
    for (const uint32_t segment : segments) {
      begin_[segment].alpha = offset(size);
      size += (*this)[segment].length + 1;
    }
    alphas_.resize(size);
    return alphas_.data();
  }
  size_t alphas_begin(size_t segment) const { return begin_[segment].alpha; }
  // Returns null if `reserve_alphas` has reserved no space for the segment.
  const float* alphas(size_t segment) const {
    return alphas_begin(segment) == 0 ? nullptr : alphas_.data() + alphas_begin(segment);
  }

 private:
  struct Begin {
    uint32_t position;
    uint32_t alpha;  // 0 if no space is reserved for the segment's alphas
  };

  static uint32_t offset(size_t size) {
    if (size > UINT32_MAX) throw std::length_error("the lattices of 1024 segments exceed 16 GB");
    return static_cast<uint32_t>(size);
  }

  std::vector<uint32_t> first_nodes_;  // the first node of every position
  std::vector<Begin> begin_;           // where each segment begins, and the end of the last segment
  std::vector<float> alphas_;
};

// The lattices of a corpus over the current pieces.
class Lattices {
 public:
  static constexpr size_t kBlockSize = 1024;  // the number of segments in a block

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
    result.find_longest_matches(pieces, crew);
    result.find_shared_first_segments();
    return result;
  }

  // Training can continue independently with the copy and with the original.
  Lattices copy() const {
    Lattices result;
    result.corpus_ = corpus_;
    result.arithmetic_ = arithmetic_;
    result.total_count_ = total_count_;
    result.blocks_.reserve(blocks_.size());
    for (const LatticeBlock& block : blocks_) result.blocks_.push_back(block.copy());
    result.links_ = links_;
    result.shared_first_segments_ = shared_first_segments_;
    return result;
  }

  // Replaces the pieces of the lattices by new pieces. `new_ids` contains the new id of each old
  // piece, or kDropped, and as its last item the new id of the unknown piece.
  void renumber(const Pieces& pieces, const std::vector<uint32_t>& new_ids, Crew& crew) {
    bool is_unchanged = true;
    for (uint32_t id = 0; id < new_ids.size(); ++id) is_unchanged &= new_ids[id] == id;
    if (is_unchanged) {
      rescore(pieces);
    } else {
      renumber_blocks(links_.keep(pieces, new_ids, crew), crew);
    }
  }

  // Changes the scores of the pieces.
  void rescore(const Pieces& pieces) { links_.rescore(pieces); }

  const SegmentedCorpus& corpus() const { return *corpus_; }
  const Arithmetic& arithmetic() const { return arithmetic_; }
  int64_t total_count() const { return total_count_; }  // pretokens in the text, with repetitions
  const PrefixLinks& links() const { return links_; }
  size_t blocks() const { return blocks_.size(); }
  LatticeBlock& block(size_t block) { return blocks_[block]; }
  // The segments that are the first segment of several pretokens, as indexes in their block.
  const std::vector<uint32_t>& shared_first_segments(size_t block) const {
    return shared_first_segments_[block];
  }

  LatticeView operator[](size_t segment) const {
    return blocks_[segment / kBlockSize][segment % kBlockSize];
  }
  const float* alphas(size_t segment) const {
    return blocks_[segment / kBlockSize].alphas(segment % kBlockSize);
  }

  // Prefetch a segment that will be read soon: prefetch_begin first, prefetch_nodes later.
  void prefetch_begin(size_t segment) const {
    blocks_[segment / kBlockSize].prefetch_begin(segment % kBlockSize);
  }
  void prefetch_nodes(size_t segment) const {
    blocks_[segment / kBlockSize].prefetch_nodes(segment % kBlockSize);
  }

 private:
  void find_longest_matches(const Pieces& pieces, Crew& crew) {
    const StringList& segments = corpus_->segments;
    blocks_.resize((segments.size() + kBlockSize - 1) / kBlockSize);
    crew.for_each(blocks_.size(), [&](size_t block) {
      std::vector<uint32_t> lengths;
      for (size_t segment = block * kBlockSize; segment < segments_end(block); ++segment) {
        lengths.push_back(static_cast<uint32_t>(count_chars(segments[segment])));
      }
      blocks_[block].lay_out(lengths, pieces.size());
    });
    // Pieces are divided into parts by their first character. The character at a position
    // determines the part whose pieces may begin there. The text of all segments is scanned once
    // for each part, so there are no more parts than the workers need.
    uint32_t parts = 8;
    while (parts < 2 * crew.size() && parts < PieceTrie::kMostParts) parts *= 2;
    std::vector<uint32_t> prefixes(pieces.size(), PieceTrie::kNone);
    crew.for_each(parts, [&](uint32_t part) {
      const PieceTrie trie(pieces, part, parts, &prefixes);
      std::vector<PieceTrie::Lookup> lookups;
      for (size_t block = 0; block < blocks_.size(); ++block) {
        blocks_[block].find_longest(segments, block * kBlockSize, segments_end(block) - 1, trie,
                                    lookups, crew);
      }
    });
    std::vector<uint32_t> first_nodes;
    links_ = PrefixLinks(pieces, prefixes, first_nodes, crew);
    if (!first_nodes.empty()) renumber_blocks(first_nodes, crew);
  }

  void find_shared_first_segments() {
    const SegmentedCorpus& corpus = *corpus_;
    std::vector<bool> seen(corpus.segments.size(), false), shared(corpus.segments.size(), false);
    for (size_t pretoken = 0; pretoken < corpus.pretoken_count.size(); ++pretoken) {
      if (corpus.pretoken_begin[pretoken] == corpus.pretoken_begin[pretoken + 1]) continue;
      const uint32_t segment = corpus.pretoken_segments[corpus.pretoken_begin[pretoken]];
      shared[segment] = seen[segment];
      seen[segment] = true;
    }
    shared_first_segments_.resize(blocks_.size());
    for (size_t segment = 0; segment < shared.size(); ++segment) {
      if (!shared[segment]) continue;
      shared_first_segments_[segment / kBlockSize].push_back(segment % kBlockSize);
    }
  }

  void renumber_blocks(const std::vector<uint32_t>& new_nodes, Crew& crew) {
    crew.for_each(blocks_.size(), [&](size_t block) { blocks_[block].renumber(new_nodes); });
  }

  size_t segments_end(size_t block) const {
    return std::min<size_t>(corpus_->segments.size(), (block + 1) * kBlockSize);
  }

  const SegmentedCorpus* corpus_ = nullptr;
  Arithmetic arithmetic_;
  int64_t total_count_ = 0;
  std::vector<LatticeBlock> blocks_;
  PrefixLinks links_;
  std::vector<std::vector<uint32_t>> shared_first_segments_;  // for each block
};

}  // namespace spmcompat
