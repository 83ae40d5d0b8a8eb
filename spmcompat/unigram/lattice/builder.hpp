// Builds the lattices of a corpus: the longest match of every position of every distinct segment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/containers/string_list.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// Builds the lattices, in these steps:
//   1. lay_out for all blocks.
//   2. find_longest for all parts.
//   3. take_links and take_lattices, each once. The lattices still lack the finished links.
class LatticeBuilder {
 public:
  LatticeBuilder(const SegmentedCorpus& corpus, const Pieces& pieces, size_t workers)
      : segments_(corpus.segments),
        pieces_(pieces),
        parts_(parts_for(workers)),
        blocks_((segments_.size() + Lattices::kBlockSize - 1) / Lattices::kBlockSize),
        prefixes_(pieces.size(), PieceTrie::kNone) {}

  size_t blocks() const { return blocks_.size(); }
  uint32_t parts() const { return parts_; }

  void lay_out(size_t block) {
    std::vector<uint32_t> lengths;
    for (size_t segment = block * Lattices::kBlockSize; segment < end(block); ++segment) {
      lengths.push_back(static_cast<uint32_t>(count_chars(segments_[segment])));
    }
    blocks_[block].lay_out(lengths, pieces_.size());
  }

  void find_longest(uint32_t part) {
    const PieceTrie trie(pieces_, part, parts_, &prefixes_);
    std::vector<PieceTrie::Lookup> lookups;
    for (size_t block = 0; block < blocks_.size(); ++block) {
      blocks_[block].find_longest(segments_, block * Lattices::kBlockSize, end(block) - 1, trie,
                                  lookups);
    }
  }

  NewLinks take_links() {
    NewLinks links(pieces_);
    for (uint32_t id = 0; id < pieces_.size(); ++id) {
      links.set(id, static_cast<uint32_t>(count_chars(pieces_[id])), prefixes_[id]);
    }
    std::vector<uint32_t>().swap(prefixes_);
    return links;
  }
  Lattices take_lattices() { return Lattices(std::move(blocks_)); }

 private:
  // Pieces are sharded by their first character, which also tells the part of a position. Each part
  // goes through all positions, so there are no more than the workers need.
  static uint32_t parts_for(size_t workers) {
    uint32_t parts = 8;
    while (parts < 2 * workers && parts < PieceTrie::kMostParts) parts *= 2;
    return parts;
  }

  size_t end(size_t block) const {
    return std::min(segments_.size(), (block + 1) * Lattices::kBlockSize);
  }

  const StringList& segments_;
  const Pieces& pieces_;
  uint32_t parts_;
  std::vector<LatticeBlock> blocks_;
  std::vector<uint32_t> prefixes_;  // piece -> the longest other piece that it begins with
};

// The first segments of several pretokens, by lattice block, as indices in the block.
inline std::vector<std::vector<uint32_t>> shared_first_segments(const SegmentedCorpus& corpus,
                                                                size_t blocks) {
  std::vector<bool> seen(corpus.segments.size(), false), shared(corpus.segments.size(), false);
  std::vector<std::vector<uint32_t>> result(blocks);
  for (size_t pretoken = 0; pretoken < corpus.pretoken_count.size(); ++pretoken) {
    if (corpus.pretoken_begin[pretoken] == corpus.pretoken_begin[pretoken + 1]) continue;
    const uint32_t segment = corpus.pretoken_segments[corpus.pretoken_begin[pretoken]];
    shared[segment] = seen[segment];
    seen[segment] = true;
  }
  for (size_t segment = 0; segment < shared.size(); ++segment) {
    if (!shared[segment]) continue;
    result[segment / Lattices::kBlockSize].push_back(segment % Lattices::kBlockSize);
  }
  return result;
}

}  // namespace spmcompat
