// The lattices of all distinct segments, compact and built once.
//
// A lattice keeps one number for each position: its first node, which leads to all others through
// prefix links. The first node is the longest match, or the unknown piece where no single character
// matches. The passes list the nodes when they need them, position after position, each from the
// longest piece to the shortest. Read backward, that list has the shortest piece first and the
// unknown piece last, which is the order in which the reference adds its terms, so the sums have
// the same bits. In the forward direction only the order of the positions matters.
//
// After an M-step or a pruning only the numbers change (renumber_block): no text is searched again.
// Segments are held in lattice blocks, which workers build and renumber independently.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// A node is the id of its piece. In copies and lists the first node of a position has a mark.
constexpr uint32_t kFirstAtPosition = 0x80000000u;

inline uint32_t piece_of(uint32_t node) { return node & ~kFirstAtPosition; }
inline uint32_t is_first(uint32_t node) { return node >> 31; }

// A view of the lattice of one segment.
struct LatticeView {
  const uint32_t* first_nodes;  // of every position
  uint32_t length;              // of the segment, in characters
};

// A position at which a piece is a node.
struct NodePosition {
  uint32_t segment = kNowhere;
  uint32_t begin = 0;  // in the segment, in characters

  bool known() const { return segment != kNowhere; }

 private:
  static constexpr uint32_t kNowhere = 0xffffffffu;
};

class LatticeBlock {
 public:
  // `lengths` are those of the segments, in characters. At first every node is the unknown piece.
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

  // Finds the longest match of every position where pieces of the trie may begin. The block holds
  // the segments from `segment` to `last`. `lookups` is working memory, which is kept from block to
  // block. It is empty before and after a call.
  void find_longest(const StringList& segments, uint32_t segment, uint32_t last,
                    const PieceTrie& trie, std::vector<PieceTrie::Lookup>& lookups) {
    const char* const text = segments.text();
    const uint32_t begin = segments.begin(segment);
    const std::string_view texts(text + begin, segments.end(last) - begin);
    trie.for_each_of_part(texts, [&](const char* at, size_t position) {
      while (text + segments.end(segment) <= at) ++segment;
      lookups.push_back(trie.lookup(at, text + segments.end(segment), &first_nodes_[position]));
      if (lookups.size() == PieceTrie::kInterleaved) trie.find_longest(lookups);
    });
    trie.find_longest(lookups);
  }

  // Replaces each node by the one that `new_nodes` gives for it.
  void renumber(const std::vector<uint32_t>& new_nodes) {
    for (uint32_t& node : first_nodes_) node = new_nodes[node];
  }

  // Without the alphas, which the next pass computes again.
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

  // Makes room for the alphas of some segments: one float for each position and for the end. One
  // float comes before all of them.
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
  // Null for a segment that has no room for alphas.
  const float* alphas(size_t segment) const {
    return alphas_begin(segment) == 0 ? nullptr : alphas_.data() + alphas_begin(segment);
  }

 private:
  struct Begin {
    uint32_t position;
    uint32_t alpha;  // 0 for a segment without room
  };

  static uint32_t offset(size_t size) {
    if (size > UINT32_MAX) throw std::length_error("the lattices of 1024 segments exceed 16 GB");
    return static_cast<uint32_t>(size);
  }

  std::vector<uint32_t> first_nodes_;  // of every position
  std::vector<Begin> begin_;           // of each segment, and after the last
  std::vector<float> alphas_;
};

// The finished lattices. LatticeBuilder (builder.hpp) makes their blocks.
//
// They change to other pieces in these steps:
//   1. keep_links, then KeptLinks::keep for all parts. For a new corpus, LatticeBuilder replaces
//      this step.
//   2. NewLinks::count for all parts.
//   3. set_links.
//   4. renumber_block for all blocks.
class Lattices {
 public:
  static constexpr size_t kBlockSize = 1024;  // segments

  Lattices() = default;
  explicit Lattices(std::vector<LatticeBlock> blocks) : blocks_(std::move(blocks)) {}

  // Training can go on from the copy and from the original in different ways.
  Lattices copy() const {
    Lattices result;
    result.blocks_.reserve(blocks_.size());
    for (const LatticeBlock& block : blocks_) result.blocks_.push_back(block.copy());
    result.links_ = links_;
    return result;
  }

  size_t blocks() const { return blocks_.size(); }
  LatticeBlock& block(size_t block) { return blocks_[block]; }

  const PrefixLinks& links() const { return links_; }

  // Moves the links out. The lattices cannot be used until they have new links. `new_ids` ends with
  // the id of the unknown piece, and must outlive the result.
  std::unique_ptr<KeptLinks> keep_links(const std::vector<uint32_t>& new_ids,
                                        const Pieces& pieces) {
    return std::make_unique<KeptLinks>(std::move(links_), new_ids, pieces);
  }
  // Changes `first_nodes` in the same way as NewLinks::finish.
  void set_links(NewLinks& links, std::vector<uint32_t>& first_nodes) {
    links_ = links.finish(first_nodes);
  }
  void renumber_block(size_t block, const std::vector<uint32_t>& first_nodes) {
    if (!first_nodes.empty()) blocks_[block].renumber(first_nodes);
  }

  // Takes new scores for the same pieces.
  void rescore(const Pieces& pieces) { links_.rescore(pieces); }

  LatticeView operator[](size_t segment) const {
    return blocks_[segment / kBlockSize][segment % kBlockSize];
  }
  const float* alphas(size_t segment) const {
    return blocks_[segment / kBlockSize].alphas(segment % kBlockSize);
  }

  // For a segment that will be read soon: prefetch_begin first, prefetch_nodes somewhat later.
  void prefetch_begin(size_t segment) const {
    blocks_[segment / kBlockSize].prefetch_begin(segment % kBlockSize);
  }
  void prefetch_nodes(size_t segment) const {
    blocks_[segment / kBlockSize].prefetch_nodes(segment % kBlockSize);
  }

 private:
  std::vector<LatticeBlock> blocks_;
  PrefixLinks links_;
};

}  // namespace spmcompat
