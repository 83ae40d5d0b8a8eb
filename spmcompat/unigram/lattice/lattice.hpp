// Lattices of all segments, compact and built once.
//
// What is kept of a lattice is the first node of every position: the longest piece that begins
// there, which leads to the others, or the unknown piece where no single character fits. The nodes
// are written down where they are needed, position after position, those of one from the longest
// to the shortest. Going back through that list meets them shortest first, the unknown piece last,
// which is the order in which the reference meets its nodes, so sums over it come out with the same
// bits; going forward only the order of the positions matters.
//
// After an M-step or a prune the pieces are renumbered in place: no text is searched twice.
// Segments are held in blocks, which are built and renumbered independently.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/pieces.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"

namespace spmcompat {

// A node is the id of its piece and a mark on the first node of a position.
constexpr uint32_t kFirstAtPosition = 0x80000000u;

inline uint32_t piece_of(uint32_t node) { return node & ~kFirstAtPosition; }
inline uint32_t is_first(uint32_t node) { return node >> 31; }

// One segment's lattice, as a view.
struct LatticeView {
  const uint32_t* tops;  // the first node of every position
  uint32_t length;       // of the segment, in characters
};

// A place where a piece occurs.
struct NodePlace {
  uint32_t segment = kNowhere;
  uint32_t begin = 0;  // in the segment

  bool known() const { return segment != kNowhere; }

 private:
  static constexpr uint32_t kNowhere = 0xffffffffu;
};

class LatticeBlock {
 public:
  // Segments from their lengths in characters, at first of unknown pieces alone.
  void lay_out(const std::vector<uint32_t>& lengths, uint32_t unknown) {
    size_t positions = 0;
    begin_.reserve(lengths.size() + 1);
    for (const uint32_t length : lengths) {
      begin_.push_back({offset(positions), 0});
      positions += length;
    }
    begin_.push_back({offset(positions), 0});
    tops_.assign(positions, unknown);
  }

  // Of every position where pieces of the trie may begin the longest of them. The block is of the
  // segments from `segment` to `last`.
  void find_pieces(const StringList& segments, uint32_t segment, uint32_t last,
                   const PieceTrie& trie, std::vector<PieceTrie::Place>& places) {
    const char* const text = segments.text();
    const uint32_t begin = segments.begin(segment);
    const std::string_view texts(text + begin, segments.end(last) - begin);
    trie.for_each_of_part(texts, [&](const char* at, size_t position) {
      while (text + segments.end(segment) <= at) ++segment;
      places.push_back(trie.place(at, text + segments.end(segment), &tops_[position]));
      if (places.size() == PieceTrie::kTogether) trie.find_longest(places);
    });
    trie.find_longest(places);
  }

  // Goes over from nodes to those that `new_tops` gives for them.
  void renumber(const std::vector<uint32_t>& new_tops) {
    for (uint32_t& top : tops_) top = new_tops[top];
  }

  LatticeView operator[](size_t segment) const {
    const Begin& here = begin_[segment];
    return {tops_.data() + here.position, begin_[segment + 1].position - here.position};
  }

  void fetch_begin(size_t segment) const { __builtin_prefetch(begin_.data() + segment); }
  void fetch_positions(size_t segment) const {
    __builtin_prefetch(tops_.data() + begin_[segment].position);
  }

  // Room for one float for each position of some segments and their ends, and one before all.
  float* make_room(const std::vector<uint32_t>& segments) {
    size_t size = 1;
    for (const uint32_t segment : segments) {
      begin_[segment].value = offset(size);
      size += (*this)[segment].length + 1;
    }
    values_.resize(size);
    return values_.data();
  }
  size_t values_begin(size_t segment) const { return begin_[segment].value; }
  // Null for a segment without room.
  const float* values(size_t segment) const {
    return values_begin(segment) == 0 ? nullptr : values_.data() + values_begin(segment);
  }

 private:
  struct Begin {
    uint32_t position;
    uint32_t value;  // of those that have room
  };

  static uint32_t offset(size_t size) {
    if (size > UINT32_MAX) throw std::length_error("the lattices of 1024 segments exceed 16 GB");
    return static_cast<uint32_t>(size);
  }

  std::vector<uint32_t> tops_;  // the first node of every position
  std::vector<Begin> begin_;    // of each segment, and behind the last
  std::vector<float> values_;
};

class Lattices {
 public:
  static constexpr size_t kBlockSize = 1024;  // segments
  static constexpr uint32_t kChainPart = 1 << 14;

  // In rounds: lay_out for all blocks, find_pieces for all parts of the pieces, begin_chains, and
  // then what follows below when chains are to be counted.
  Lattices(const SegmentedCorpus& corpus, uint32_t unknown)
      : segments_(corpus.segments.size()),
        blocks_((segments_ + kBlockSize - 1) / kBlockSize),
        prefixes_(unknown, PieceTrie::kNone) {}

  size_t blocks() const { return blocks_.size(); }

  const PieceChains& chains() const { return chains_; }

  void lay_out(size_t block, const SegmentedCorpus& corpus) {
    std::vector<uint32_t> lengths;
    for_each_segment(block, [&](size_t segment) {
      lengths.push_back(static_cast<uint32_t>(count_chars(corpus.segments[segment])));
    });
    blocks_[block].lay_out(lengths, static_cast<uint32_t>(prefixes_.size()));
  }

  // A position tells by its character which part its pieces fall to.
  static constexpr uint32_t kParts = 8;
  void find_pieces(uint32_t part, const Pieces& pieces, const SegmentedCorpus& corpus) {
    const PieceTrie trie(pieces, part, kParts, &prefixes_);
    std::vector<PieceTrie::Place> places;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      const size_t end = std::min(segments_, (block + 1) * kBlockSize);
      blocks_[block].find_pieces(corpus.segments, block * kBlockSize, end - 1, trie, places);
    }
  }

  void begin_chains(const Pieces& pieces) {
    chains_ = PieceChains(pieces);
    for (uint32_t id = 0; id < pieces.size(); ++id) {
      chains_.set(id, static_cast<uint32_t>(count_chars(pieces[id])), prefixes_[id]);
    }
    std::vector<uint32_t>().swap(prefixes_);
  }

  // Goes over to other scores of the same pieces.
  void rescore(const Pieces& pieces) { chains_.rescore(pieces); }

  // Gives the pieces new ids; the last id is that of the unknown piece. In rounds:
  // begin_renumbering, keep_chains for all parts of the chains, end_keeping.
  void begin_renumbering(const std::vector<uint32_t>& new_ids, const Pieces& pieces) {
    kept_.emplace(chains_, new_ids, pieces);
  }
  void keep_chains(uint32_t part) { kept_->find(part * kChainPart, (part + 1) * kChainPart); }
  void end_keeping() {
    new_tops_ = kept_->take_tops();
    chains_ = kept_->take_chains();
    kept_.reset();
  }

  // When chains are to be counted, in rounds: begin_counting, count_chains for all their parts,
  // end_counting, renumber_block for all blocks, end_renumbering.
  uint32_t chain_parts() const { return (chains_.size() + kChainPart - 1) / kChainPart; }
  void begin_counting() { lack_unknown_.resize(chain_parts()); }
  void count_chains(uint32_t part) {
    const uint32_t first = part * kChainPart;
    lack_unknown_[part] = chains_.count(first, std::min(first + kChainPart, chains_.pieces()));
  }
  void end_counting() {
    for (const std::vector<uint32_t>& ids : lack_unknown_) {
      for (const uint32_t id : ids) chains_.add_unknown(id);
    }
    std::vector<std::vector<uint32_t>>().swap(lack_unknown_);
    if (new_tops_.empty()) {
      new_tops_ = chains_.tops();
    } else if (!chains_.tops().empty()) {
      for (uint32_t& top : new_tops_) top = chains_.top(top);
    }
  }
  void renumber_block(size_t block) {
    if (!new_tops_.empty()) blocks_[block].renumber(new_tops_);
  }
  void end_renumbering() { std::vector<uint32_t>().swap(new_tops_); }

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
  void fetch_positions(size_t segment) const {
    blocks_[segment / kBlockSize].fetch_positions(segment % kBlockSize);
  }

 private:
  template <typename Function>
  void for_each_segment(size_t block, Function function) const {
    const size_t end = std::min(segments_, (block + 1) * kBlockSize);
    for (size_t segment = block * kBlockSize; segment < end; ++segment) function(segment);
  }

  size_t segments_;
  std::vector<LatticeBlock> blocks_;
  PieceChains chains_;
  std::vector<uint32_t> prefixes_;                   // of the pieces, while they are searched
  std::vector<std::vector<uint32_t>> lack_unknown_;  // chains, by part, while they are counted
  std::optional<KeptChains> kept_;                   // while pieces are renumbered
  std::vector<uint32_t> new_tops_;                   // of each node, while blocks are renumbered
};

}  // namespace spmcompat
