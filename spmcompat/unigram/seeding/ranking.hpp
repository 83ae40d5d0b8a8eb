// The candidates in the order of the seeds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "spmcompat/unigram/pieces.hpp"
#include "spmcompat/unigram/seeding/candidates.hpp"
#include "spmcompat/unigram/seeding/seed_tree.hpp"
#include "spmcompat/unigram/seeding/suffix_tree.hpp"

namespace spmcompat {

// Ranks the candidates that all workers have found, in these steps:
//   1. The constructor divides the candidates into parts. Every candidate of a part ranks before
//      every candidate of the next part.
//   2. sort, for all parts.
//   3. add_best.
class SeedRanking {
 public:
  // Empties `found` and drops the suffixes of the search, which must outlive this object.
  SeedRanking(SuffixTreeSearch& search, std::vector<std::vector<Candidate>>& found, size_t parts,
              size_t limit)
      : search_(search), limit_(limit) {
    search.drop_suffixes();
    const std::vector<uint32_t> part_of = search.bound().divide(parts);
    std::vector<size_t> end(parts, 0);
    for (const std::vector<Candidate>& some : found) {
      for (const Candidate& c : some) {
        if (search.reaches_bound(c)) ++end[part_of[bin_of(c)]];
      }
    }
    part_begin_.assign(1, 0);
    for (size_t& size : end) {
      const size_t begin = part_begin_.back();
      part_begin_.push_back(begin + std::exchange(size, begin));
    }
    ranked_.resize(part_begin_.back());
    for (std::vector<Candidate>& some : found) {
      for (const Candidate& c : some) {
        if (search.reaches_bound(c)) ranked_[end[part_of[bin_of(c)]]++] = c;
      }
      std::vector<Candidate>().swap(some);
    }
  }

  void sort(size_t part) {
    Candidate* first = ranked_.data() + part_begin_[part];
    Candidate* last = ranked_.data() + part_begin_[part + 1];
    const SeedTree& tree = search_.tree();
    std::vector<SortKey> keys;
    keys.reserve(last - first);
    for (const Candidate* c = first; c != last; ++c) {
      const uint64_t head = tree.head(text_key(search_.text(*c).data(), c->bytes), c->bytes);
      keys.push_back({search_.scores().rank(c->count, c->characters), head, *c});
    }
    std::sort(keys.begin(), keys.end(), [&](const SortKey& a, const SortKey& b) {
      if (a.rank != b.rank) return a.rank > b.rank;
      if (a.head != b.head && tree.heads_decide(a.candidate.bytes, b.candidate.bytes)) {
        return a.head < b.head;
      }
      return tree.better_of_equals(search_.text(a.candidate), search_.text(b.candidate));
    });
    for (const SortKey& key : keys) *first++ = key.candidate;
  }

  // Adds the best candidates to the seeds; their scores are no log probabilities yet. Adds their
  // counts too, if a list for these is given.
  void add_best(Pieces& seeds, std::vector<uint64_t>* counts) const {
    const size_t size = std::min(limit_, ranked_.size());
    size_t bytes = 0;
    for (uint32_t id = 0; id < seeds.size(); ++id) bytes += seeds[id].size();
    for (size_t i = 0; i < size; ++i) bytes += ranked_[i].bytes;
    seeds.reserve(seeds.size() + size, bytes);
    for (size_t i = 0; i < size; ++i) {
      seeds.add(search_.text(ranked_[i]), search_.score(ranked_[i]));
      if (counts != nullptr) counts->push_back(ranked_[i].count);
    }
  }

 private:
  struct SortKey {
    uint64_t rank;
    uint64_t head;  // the first bytes, as a number
    Candidate candidate;
  };

  uint32_t bin_of(const Candidate& c) const { return ScoreBound::bin_of(search_.score(c)); }

  const SuffixTreeSearch& search_;
  size_t limit_;
  std::vector<Candidate> ranked_;
  std::vector<size_t> part_begin_;  // part -> range of ranked_
};

}  // namespace spmcompat
