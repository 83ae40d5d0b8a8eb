// The passes over all pretokens of a corpus, lane by lane: expected counts, log likelihoods, and
// the counts of the best paths. And the log likelihoods of single segments.
#pragma once

#include <cstddef>
#include <cstdint>

#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/em/forward_backward.hpp"
#include "spmcompat/unigram/em/lanes.hpp"
#include "spmcompat/unigram/lattice/best_path.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/passes.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"

namespace spmcompat {

// Adds up the expected counts and the objective. Every worker calls this once. If all scores are
// finite, find_shared_alphas must have been called for every block before.
inline void add_expected_counts(Lanes& lanes, const Lattices& lattices,
                                const Arithmetic& arithmetic, int64_t total_count) {
  ForwardBackward pass(lattices, arithmetic);
  lanes.work(pass, &ForwardBackward::find_marginals, [&](LaneSums& sums) {
    sums.expected.resize(lattices.links().pieces());
    pass.add_marginals(sums.expected.data());
    pass.for_each_likelihood([&](float frequency, float log_likelihood) {
      sums.objective -= frequency * log_likelihood / total_count;
    });
  });
}

// Adds up log likelihoods in double. Every worker calls this once, after find_shared_alphas was
// called for every block.
inline void add_log_likelihoods(Lanes& lanes, const Lattices& lattices,
                                const Arithmetic& arithmetic) {
  ForwardBackward pass(lattices, arithmetic);
  lanes.work(pass, &ForwardBackward::find_likelihoods, [&](LaneSums& sums) {
    pass.for_each_likelihood([&](float frequency, float log_likelihood) {
      sums.log_likelihood += double(frequency) * log_likelihood;
    });
  });
}

// Counts how often each piece is in the best paths, and notes one position of each piece for
// pruning. Every worker calls this once.
inline void add_best_paths(Lanes& lanes, const Lattices& lattices, const Arithmetic& arithmetic) {
  constexpr size_t kPathsAhead = 8;  // prefetch distance
  const PrefixLinks& links = lattices.links();
  BestPaths paths(lattices, arithmetic);
  lanes.work(paths, &BestPaths::find, [&](LaneSums& sums) {
    sums.expected.resize(links.pieces());
    sums.positions.resize(links.pieces());
    for (size_t pretoken = 0; pretoken < paths.size(); ++pretoken) {
      paths.prefetch(pretoken + kPathsAhead);
      const float frequency = paths.frequency(pretoken);
      paths.for_each_backwards(pretoken, [&](uint32_t piece, const NodePosition& position) {
        if (links.is_unknown(piece)) {
          sums.expected[0] += frequency;  // the reference's unknown id is 0 while it trains
          return;
        }
        sums.expected[piece] += frequency;
        if (!sums.positions[piece].known()) sums.positions[piece] = position;
      });
    }
  });
}

// Writes the log likelihood of each segment in a range, as if it were a whole pretoken.
inline void find_segment_likelihoods(const Lattices& lattices, const Arithmetic& arithmetic,
                                     uint32_t first, uint32_t last, float* out) {
  ForwardBackward pass(lattices, arithmetic);
  for (uint32_t segment = first; segment < last;) {
    for (; segment < last && !pass.full(); ++segment) pass.add(&segment, 1, 1.0f);
    pass.find_likelihoods();
    pass.for_each_likelihood([&](float, float log_likelihood) { *out++ = log_likelihood; });
    pass.clear();
  }
}

// The number of all pretokens, summed in float in the order of the lanes.
inline float sum_pretoken_counts(const SegmentedCorpus& corpus, size_t lanes) {
  float total = 0.0f;
  for (size_t lane = 0; lane < lanes; ++lane) {
    float sum = 0.0f;
    for (size_t pretoken = lane; pretoken < corpus.pretoken_count.size(); pretoken += lanes) {
      sum += static_cast<float>(corpus.pretoken_count[pretoken]);
    }
    total += sum;
  }
  return total;
}

}  // namespace spmcompat
