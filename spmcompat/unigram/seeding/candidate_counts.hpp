// The candidates of several seeding chunks. The counts of a candidate in all chunks are added up.
//
// Two kinds of counts are lost, as in the reference. If the same symbol follows all occurrences of
// a substring in a chunk, the substring is not a candidate of this chunk, so its count in the chunk
// is lost. If there are too many candidates after a chunk, some are dropped with their counts: when
// a later chunk contains such a candidate again, its count starts from zero.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/containers/string_table.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/unigram/seeding/candidates.hpp"
#include "spmcompat/unigram/seeding/seed_tree.hpp"
#include "spmcompat/unigram/seeding/suffix_tree.hpp"

namespace spmcompat {

class CandidateCounts {
 public:
  // In the end, the best `limit` candidates become seeds. If there are more than 16 * limit
  // candidates after a chunk, only the best 8 * limit are kept.
  CandidateCounts(size_t limit, size_t longest, float length_power)
      : CandidateCounts(limit, CandidateScores(longest, length_power, false)) {}

  // Adds the candidates of one chunk, and removes them from the search.
  void add(SuffixTreeSearch& search, Crew&) {
    for (std::vector<Candidate>& part : search.found()) {
      for (const Candidate& candidate : part) add_piece(search.text(candidate), candidate.count);
      std::vector<Candidate>().swap(part);
    }
    if (limit_ < SIZE_MAX / 16 && pieces_.size() > 16 * limit_) keep_best(8 * limit_);
    pieces_.drop_index();  // the index is not needed while the next chunk is read and searched
  }

  // Returns `seeds` followed by the best candidates. Appends the counts of the candidates to
  // `counts`, unless it is null.
  Pieces add_best(Pieces& seeds, std::vector<uint64_t>* counts, Crew&) const {
    std::vector<Ranked> all = ranked();
    const size_t size = std::min(limit_, all.size());
    std::partial_sort(all.begin(), all.begin() + size, all.end(), Better{this});
    for (size_t i = 0; i < size; ++i) {
      seeds.add(pieces_[all[i].id], all[i].score);
      if (counts != nullptr) counts->push_back(counts_[all[i].id]);
    }
    return std::move(seeds);
  }

 private:
  static constexpr SeedTree kTree{};  // the seed tree of 0.2.3, the only release that reads chunks

  CandidateCounts(size_t limit, CandidateScores scores)
      : limit_(limit), scores_(std::move(scores)) {}

  struct Ranked {
    float score;
    uint32_t id;
  };
  struct Better {
    const CandidateCounts* counts;
    bool operator()(const Ranked& a, const Ranked& b) const {
      if (a.score != b.score) return a.score > b.score;
      return kTree.better_of_equals(counts->pieces_[a.id], counts->pieces_[b.id]);
    }
  };

  void add_piece(std::string_view piece, uint64_t count) {
    const uint32_t id = pieces_.add(piece);
    if (id == counts_.size()) counts_.push_back(0);
    counts_[id] += count;
  }

  void keep_best(size_t size) {
    std::vector<Ranked> all = ranked();
    std::nth_element(all.begin(), all.begin() + size, all.end(), Better{this});
    CandidateCounts kept(limit_, scores_);
    for (size_t i = 0; i < size; ++i) kept.add_piece(pieces_[all[i].id], counts_[all[i].id]);
    *this = std::move(kept);
  }

  std::vector<Ranked> ranked() const {
    std::vector<Ranked> all;
    all.reserve(pieces_.size());
    for (uint32_t id = 0; id < pieces_.size(); ++id) {
      all.push_back({scores_.of(counts_[id], count_chars(pieces_[id])), id});
    }
    return all;
  }

  size_t limit_;
  CandidateScores scores_;
  StringTable pieces_;
  std::vector<uint64_t> counts_;
};

}  // namespace spmcompat
