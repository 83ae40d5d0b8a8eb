// The E-step: passes over all pretokens of a corpus, in the order of the partial sums. The passes
// add up expected counts, log likelihoods, or the counts of the best paths. Another function
// returns the log likelihood of each segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/em/forward_backward.hpp"
#include "spmcompat/unigram/em/partial_sums.hpp"
#include "spmcompat/unigram/lattice/best_path.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"

namespace spmcompat {

// Returns the total of the partial sums. For each group of pretokens, calls the method `find` of a
// `Pass`, and then add(pass, sum), which adds the results to a partial sum.
template <typename Pass, typename Add>
ExpectedCounts sum_in_order(const Lattices& lattices, size_t partial_sums, bool single_sum,
                            Crew& crew, void (Pass::*find)(), Add add) {
  PartialSums all(lattices, partial_sums, single_sum, crew);
  crew.for_each(crew.size(), [&](size_t) {
    Pass pass(lattices, crew);
    all.work(pass, find, add);
  });
  return all.take_total();
}

// Returns the expected counts of all pieces, and the objective.
inline ExpectedCounts expected_counts(const Lattices& lattices, size_t partial_sums, Crew& crew) {
  const auto add = [&](ForwardBackward& pass, ExpectedCounts& sums) {
    sums.expected.resize(lattices.links().pieces());
    pass.add_marginals(sums.expected.data());
    pass.for_each_likelihood([&](float frequency, float log_likelihood) {
      sums.objective -= frequency * log_likelihood / lattices.total_count();
    });
  };
  return sum_in_order(lattices, partial_sums, false, crew, &ForwardBackward::find_marginals, add);
}

// Returns the log likelihood of the corpus. The sums are computed in double.
inline double log_likelihood(const Lattices& lattices, Crew& crew) {
  constexpr size_t kPartialSums = 16;
  const auto add = [](ForwardBackward& pass, ExpectedCounts& sums) {
    pass.for_each_likelihood([&](float frequency, float log_likelihood) {
      sums.log_likelihood += double(frequency) * log_likelihood;
    });
  };
  return sum_in_order(lattices, kPartialSums, false, crew, &ForwardBackward::find_likelihoods, add)
      .log_likelihood;
}

// Returns how often each piece is in the best paths. Also returns one position of each piece, which
// pruning needs.
inline ExpectedCounts best_path_counts(const Lattices& lattices, size_t partial_sums,
                                       bool single_sum, Crew& crew) {
  constexpr size_t kPathsAhead = 8;  // prefetch distance
  const PrefixLinks& links = lattices.links();
  const auto add = [&](BestPaths& paths, ExpectedCounts& sums) {
    sums.expected.resize(links.pieces());
    sums.positions.resize(links.pieces());
    for (size_t pretoken = 0; pretoken < paths.size(); ++pretoken) {
      paths.prefetch(pretoken + kPathsAhead);
      const float frequency = paths.frequency(pretoken);
      paths.for_each_backwards(pretoken, [&](uint32_t piece, const NodePosition& position) {
        if (links.is_unknown(piece)) {
          // As in the reference, whose unknown piece has the id 0 during training.
          sums.expected[0] += frequency;
          return;
        }
        sums.expected[piece] += frequency;
        if (!sums.positions[piece].known()) sums.positions[piece] = position;
      });
    }
  };
  return sum_in_order(lattices, partial_sums, single_sum, crew, &BestPaths::find, add);
}

// Returns the log likelihood of each segment, as if it were a whole pretoken.
inline std::vector<float> segment_log_likelihoods(const Lattices& lattices, Crew& crew) {
  constexpr size_t kRange = 4096;  // segments that a worker takes at a time
  std::vector<float> found(lattices.corpus().segments.size());
  crew.for_each_range(found.size(), kRange, [&](uint32_t segment, uint32_t last) {
    float* out = found.data() + segment;
    ForwardBackward pass(lattices, crew);
    while (segment < last) {
      for (; segment < last && !pass.full(); ++segment) pass.add(&segment, 1, 1.0f);
      pass.find_likelihoods();
      pass.for_each_likelihood([&](float, float log_likelihood) { *out++ = log_likelihood; });
      pass.clear();
    }
  });
  return found;
}

// The number of pretokens in the text, added up in float in the order of the partial sums.
inline float sum_pretoken_counts(const SegmentedCorpus& corpus, size_t partial_sums) {
  float total = 0.0f;
  for (size_t first = 0; first < partial_sums; ++first) {
    float sum = 0.0f;
    for (size_t i = first; i < corpus.pretoken_count.size(); i += partial_sums) {
      sum += static_cast<float>(corpus.pretoken_count[i]);
    }
    total += sum;
  }
  return total;
}

}  // namespace spmcompat
