// Sorts the candidates, and adds the best ones to the seeds.
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

// Sorts candidates, the best first.
inline void rank(Candidate* first, Candidate* last, const SuffixTreeSearch& search) {
  struct SortKey {
    uint64_t rank;
    uint64_t head;  // the first bytes of the candidate, as a number
    Candidate candidate;
  };
  const SeedTree& tree = search.tree();
  std::vector<SortKey> keys;
  keys.reserve(last - first);
  for (const Candidate* c = first; c != last; ++c) {
    const uint64_t head = tree.head(text_key(search.text(*c).data(), c->bytes), c->bytes);
    keys.push_back({search.scores().rank(c->count, c->characters), head, *c});
  }
  std::sort(keys.begin(), keys.end(), [&](const SortKey& a, const SortKey& b) {
    if (a.rank != b.rank) return a.rank > b.rank;
    if (a.head != b.head && tree.heads_decide(a.candidate.bytes, b.candidate.bytes)) {
      return a.head < b.head;
    }
    return tree.better_of_equals(search.text(a.candidate), search.text(b.candidate));
  });
  for (const SortKey& key : keys) *first++ = key.candidate;
}

// Returns all candidates of a search, the best first. Removes them from the search.
inline std::vector<Candidate> ranked_candidates(SuffixTreeSearch& search, Crew& crew) {
  // The candidates are divided into parts by their scores, and workers sort the parts
  // independently. Every candidate of a part ranks before every candidate of the next part.
  const size_t parts = 4 * crew.size();
  const std::vector<uint32_t> part_of = search.bound().divide(parts);
  const auto part_of_candidate = [&](const Candidate& c) {
    return part_of[ScoreBound::bin_of(search.score(c))];
  };
  std::vector<size_t> end(parts, 0);
  for (const std::vector<Candidate>& some : search.found()) {
    for (const Candidate& c : some) {
      if (search.reaches_bound(c)) ++end[part_of_candidate(c)];
    }
  }
  std::vector<size_t> begin(1, 0);  // the index in `ranked` at which each part begins
  for (size_t& size : end) begin.push_back(begin.back() + std::exchange(size, begin.back()));
  std::vector<Candidate> ranked(begin.back());
  for (std::vector<Candidate>& some : search.found()) {
    for (const Candidate& c : some) {
      if (search.reaches_bound(c)) ranked[end[part_of_candidate(c)]++] = c;
    }
    std::vector<Candidate>().swap(some);
  }
  crew.for_each(parts, [&](size_t part) {
    rank(ranked.data() + begin[part], ranked.data() + begin[part + 1], search);
  });
  return ranked;
}

// Returns `seeds` followed by the best candidates of a search, at most `limit` of them. The scores
// of seeds are not yet log probabilities. Appends the counts of the candidates to `counts`, unless
// `counts` is null.
inline Pieces add_best(Pieces& seeds, SuffixTreeSearch& search, size_t limit,
                       std::vector<uint64_t>* counts, Crew& crew) {
  const std::vector<Candidate> ranked = ranked_candidates(search, crew);
  const size_t size = std::min(limit, ranked.size());
  size_t bytes = 0;
  for (uint32_t id = 0; id < seeds.size(); ++id) bytes += seeds[id].size();
  for (size_t i = 0; i < size; ++i) bytes += ranked[i].bytes;
  seeds.reserve(seeds.size() + size, bytes);
  for (size_t i = 0; i < size; ++i) {
    seeds.add(search.text(ranked[i]), search.score(ranked[i]));
    if (counts != nullptr) counts->push_back(ranked[i].count);
  }
  return std::move(seeds);
}

}  // namespace spmcompat
