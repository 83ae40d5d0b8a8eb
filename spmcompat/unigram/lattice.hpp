// Lattices of all segments, compact and built once.
//
// A lattice lists for every position of its segment the pieces that begin there,
// shortest first; the unknown piece stands last where no single character fits.
// That is the order in which the reference meets its nodes, so sums over it come
// out with the same bits. After an M-step or a prune the lists are renumbered and
// thinned in place: no text is searched twice.
//
// Segments are held in blocks, each with arrays of its own: blocks are built and
// thinned independently, and give their memory back as they shrink.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pieces.hpp"
#include "word_counts.hpp"

namespace spmcompat {

constexpr uint32_t kDropped = 0xffffffffu;

// One segment's lattice, as a view.
struct LatticeView {
  const uint16_t* nodes_at;  // of each position, how many nodes begin there
  size_t length;             // in characters
  size_t nodes;
  const uint32_t* piece;
  const uint16_t* node_length;
};

class LatticeBlock {
 public:
  void add(const char32_t* text, size_t length, const PieceTrie& trie, uint32_t unknown) {
    segment_position_.push_back(nodes_at_.size());
    segment_node_.push_back(piece_.size());
    for (size_t i = 0; i < length; ++i) {
      const size_t before = piece_.size();
      bool single = false;
      trie.for_each_prefix(text + i, length - i, [&](size_t node_length, uint32_t id) {
        piece_.push_back(id);
        node_length_.push_back(static_cast<uint16_t>(node_length));
        longest_ = std::max(longest_, node_length);
        single |= node_length == 1;
      });
      if (!single) {
        piece_.push_back(unknown);
        node_length_.push_back(1);
      }
      nodes_at_.push_back(static_cast<uint16_t>(piece_.size() - before));
    }
  }

  void seal() {
    segment_position_.push_back(nodes_at_.size());
    segment_node_.push_back(piece_.size());
    shrink();
  }

  LatticeView operator[](size_t segment) const {
    const uint64_t position = segment_position_[segment];
    const uint64_t node = segment_node_[segment];
    return {nodes_at_.data() + position, segment_position_[segment + 1] - position,
            segment_node_[segment + 1] - node, piece_.data() + node, node_length_.data() + node};
  }

  // Gives the pieces new ids and removes those dropped. A single character that is
  // dropped leaves the unknown piece behind, last in its list: the lists never grow.
  void renumber(const std::vector<uint32_t>& new_id, uint32_t old_unknown, uint32_t unknown) {
    size_t read = 0, write = 0, position = 0;
    for (size_t segment = 0; segment + 1 < segment_node_.size(); ++segment) {
      segment_node_[segment] = write;
      for (; position < segment_position_[segment + 1]; ++position) {
        const size_t first = write;
        bool single = false;
        for (const size_t stop = read + nodes_at_[position]; read < stop; ++read) {
          if (piece_[read] == old_unknown || new_id[piece_[read]] == kDropped) continue;
          single |= node_length_[read] == 1;
          piece_[write] = new_id[piece_[read]];
          node_length_[write++] = node_length_[read];
        }
        if (!single) {
          piece_[write] = unknown;
          node_length_[write++] = 1;
        }
        nodes_at_[position] = static_cast<uint16_t>(write - first);
      }
    }
    segment_node_.back() = write;
    piece_.resize(write);
    node_length_.resize(write);
    shrink();
  }

  size_t longest() const { return longest_; }
  size_t segments() const { return segment_node_.size() - 1; }

  // One float for each position of each segment and its end, to the caller's use.
  void make_room() { values_.resize(nodes_at_.size() + segments()); }
  float* values(size_t segment) { return values_.data() + segment_position_[segment] + segment; }
  const float* values(size_t segment) const {
    return values_.data() + segment_position_[segment] + segment;
  }

 private:
  void shrink() {
    if (piece_.capacity() > piece_.size() + piece_.size() / 4) {
      piece_.shrink_to_fit();
      node_length_.shrink_to_fit();
      nodes_at_.shrink_to_fit();
    }
  }

  std::vector<uint64_t> segment_position_, segment_node_;
  std::vector<uint16_t> nodes_at_;
  std::vector<uint32_t> piece_;
  std::vector<uint16_t> node_length_;
  std::vector<float> values_;
  size_t longest_ = 1;
};

class Lattices {
 public:
  static constexpr size_t kBlockSize = 4096;  // segments

  explicit Lattices(size_t segments)
      : segments_(segments), blocks_((segments + kBlockSize - 1) / kBlockSize) {}

  size_t blocks() const { return blocks_.size(); }

  // No piece that was ever in a lattice is longer, in characters.
  size_t longest() const {
    size_t longest = 1;
    for (const LatticeBlock& block : blocks_) longest = std::max(longest, block.longest());
    return longest;
  }

  void build_block(size_t block, const SegmentedCorpus& corpus, const PieceTrie& trie,
                   uint32_t unknown) {
    std::vector<char32_t> text;
    const size_t end = std::min(segments_, (block + 1) * kBlockSize);
    for (size_t segment = block * kBlockSize; segment < end; ++segment) {
      decode_text(corpus.segments[segment], text);
      blocks_[block].add(text.data(), text.size(), trie, unknown);
    }
    blocks_[block].seal();
  }

  void renumber_block(size_t block, const std::vector<uint32_t>& new_id, uint32_t old_unknown,
                      uint32_t unknown) {
    blocks_[block].renumber(new_id, old_unknown, unknown);
  }

  LatticeView operator[](size_t segment) const {
    return blocks_[segment / kBlockSize][segment % kBlockSize];
  }
  const float* values(size_t segment) const {
    return blocks_[segment / kBlockSize].values(segment % kBlockSize);
  }
  LatticeBlock& block(size_t block) { return blocks_[block]; }

 private:
  size_t segments_;
  std::vector<LatticeBlock> blocks_;
};

}  // namespace spmcompat
