// Lattices of all segments, compact and built once.
//
// A lattice lists for every position of its segment the pieces that begin there, shortest
// first; the unknown piece stands last where no single character fits. That is the order in
// which the reference meets its nodes, so sums over it come out with the same bits. The
// positions stand from the last to the first, as the backward pass goes; the forward pass goes
// through the list from its end, since there only the order of the positions matters.
//
// After an M-step or a prune the lists are renumbered and thinned in place: no text is searched
// twice. Segments are held in blocks, each with arrays of its own: blocks are built and thinned
// independently, and give their memory back as they shrink.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "pieces.hpp"
#include "word_counts.hpp"

namespace spmcompat {

constexpr uint32_t kDropped = 0xffffffffu;

// A node is the id of its piece and a mark on the last node of a position.
constexpr uint32_t kLastAtPosition = 0x80000000u;

inline uint32_t piece_of(uint32_t node) { return node & ~kLastAtPosition; }
inline bool is_last(uint32_t node) { return node & kLastAtPosition; }

// So many nodes may be read behind the last one of a view.
constexpr size_t kSpareNodes = 3;

// One segment's lattice, as a view.
struct LatticeView {
  const uint32_t* nodes;
  uint32_t size;    // number of nodes
  uint32_t length;  // of the segment, in characters
};

// A place where a piece occurs: the nodes of the segment up to the last one that begins there.
struct NodePlace {
  uint32_t segment = 0;
  uint32_t nodes = 0;

  bool known() const { return nodes > 0; }
};

class LatticeBlock {
 public:
  void add(const char32_t* text, size_t length, const PieceTrie& trie, uint32_t unknown) {
    begin_.push_back({offset(nodes_.size()), offset(length), 0});
    for (size_t last = length; last > 0;) {
      const size_t first = last > kWindow ? last - kWindow : 0;
      add_window(text, length, first, last, trie, unknown);
      last = first;
    }
  }

  void seal() {
    begin_.push_back({offset(nodes_.size()), 0, 0});
    begin_.shrink_to_fit();
    trim(nodes_.size());
    std::vector<std::pair<uint32_t, uint32_t>>().swap(walks_);
    std::vector<std::pair<uint32_t, uint32_t>>().swap(found_);
  }

  LatticeView operator[](size_t segment) const {
    const Begin& here = begin_[segment];
    return {nodes_.data() + here.node, begin_[segment + 1].node - here.node, here.length};
  }

  // Gives the pieces new ids and removes those dropped; the last id is that of the unknown
  // piece. A single character that is dropped leaves the unknown piece behind, last in its list:
  // the lists never grow.
  void renumber(const std::vector<uint32_t>& new_id) {
    const uint32_t old_unknown = static_cast<uint32_t>(new_id.size() - 1);
    uint32_t write = 0, read = 0;
    for (size_t segment = 0; segment < segments(); ++segment) {
      begin_[segment].node = write;
      while (read < begin_[segment + 1].node) {
        const uint32_t first = new_id[piece_of(nodes_[read])];
        uint32_t node;
        do {
          node = nodes_[read++];
          nodes_[write] = new_id[piece_of(node)];
          write += nodes_[write] != kDropped;
        } while (!is_last(node));
        // The first was the single character, unless the last is the unknown piece.
        if (first == kDropped && piece_of(node) != old_unknown) nodes_[write++] = new_id.back();
        nodes_[write - 1] |= kLastAtPosition;
      }
    }
    begin_.back().node = write;
    trim(write);
  }

  void fetch_begin(size_t segment) const { __builtin_prefetch(begin_.data() + segment); }
  void fetch_nodes(size_t segment) const {
    const uint32_t* nodes = nodes_.data() + begin_[segment].node;
    __builtin_prefetch(nodes);
    __builtin_prefetch(nodes + 16);
  }

  size_t segments() const { return begin_.size() - 1; }

  // Room for one float for each position of some segments and their ends, and one before all.
  float* make_room(const std::vector<uint32_t>& segments) {
    size_t size = 1;
    for (const uint32_t segment : segments) {
      begin_[segment].value = offset(size);
      size += begin_[segment].length + 1;
    }
    values_.resize(size);
    return values_.data();
  }
  size_t values_begin(size_t segment) const { return begin_[segment].value; }
  const float* values(size_t segment) const { return values_.data() + values_begin(segment); }

 private:
  struct Begin {
    uint32_t node;
    uint32_t length;  // in characters
    uint32_t value;   // of those that have room
  };

  static constexpr size_t kWindow = 128;  // positions whose pieces are searched together

  void add_window(const char32_t* text, size_t length, size_t first, size_t last,
                  const PieceTrie& trie, uint32_t unknown) {
    std::array<uint32_t, kWindow> nodes_at{};
    std::array<bool, kWindow> single{};
    found_.clear();
    trie.for_each_piece(text, length, first, last, walks_,
                        [&](uint32_t place, size_t piece_length, uint32_t id) {
                          found_.push_back({place, id});
                          ++nodes_at[place];
                          single[place] |= piece_length == 1;
                        });
    size_t end = nodes_.size();
    std::array<size_t, kWindow> next;
    for (size_t place = last - first; place-- > 0;) {
      next[place] = end;
      end += nodes_at[place] + !single[place];
    }
    nodes_.resize(end);
    for (const auto& [place, id] : found_) nodes_[next[place]++] = id;
    for (size_t place = 0; place < last - first; ++place) {
      if (!single[place]) nodes_[next[place]++] = unknown;
      nodes_[next[place] - 1] |= kLastAtPosition;
    }
  }

  static uint32_t offset(size_t size) {
    if (size > UINT32_MAX) throw std::length_error("the lattices of 1024 segments exceed 16 GB");
    return static_cast<uint32_t>(size);
  }
  void trim(size_t size) {
    nodes_.resize(size + kSpareNodes);
    if (nodes_.capacity() > nodes_.size() + nodes_.size() / 16) nodes_.shrink_to_fit();
  }

  std::vector<uint32_t> nodes_;
  std::vector<Begin> begin_;  // of each segment, and behind the last
  std::vector<std::pair<uint32_t, uint32_t>> walks_, found_;  // while it is built
  std::vector<float> values_;
};

class Lattices {
 public:
  static constexpr size_t kBlockSize = 1024;  // segments

  explicit Lattices(size_t segments)
      : segments_(segments), blocks_((segments + kBlockSize - 1) / kBlockSize) {}

  size_t blocks() const { return blocks_.size(); }

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

  LatticeView operator[](size_t segment) const {
    return blocks_[segment / kBlockSize][segment % kBlockSize];
  }
  const float* values(size_t segment) const {
    return blocks_[segment / kBlockSize].values(segment % kBlockSize);
  }
  LatticeBlock& block(size_t block) { return blocks_[block]; }

  // Hints that a segment will soon be looked at: first where it lies, then what lies there.
  void fetch_begin(size_t segment) const {
    blocks_[segment / kBlockSize].fetch_begin(segment % kBlockSize);
  }
  void fetch_nodes(size_t segment) const {
    blocks_[segment / kBlockSize].fetch_nodes(segment % kBlockSize);
  }

 private:
  size_t segments_;
  std::vector<LatticeBlock> blocks_;
};

}  // namespace spmcompat
