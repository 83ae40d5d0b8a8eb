// The E-step: passes over all pretokens of a corpus, lane by lane, that sum up expected counts, log
// likelihoods, or the counts of the best paths. And the log likelihoods of single segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spmcompat/runtime/crew.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unigram/em/forward_backward.hpp"
#include "spmcompat/unigram/em/lanes.hpp"
#include "spmcompat/unigram/lattice/best_path.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/passes.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"

namespace spmcompat {

// What the passes read.
struct LatticesOfCorpus {
  const SegmentedCorpus* corpus;
  Lattices* lattices;  // a pass changes only their alphas
  const std::vector<std::vector<uint32_t>>* shared_first_segments;
  Arithmetic arithmetic;
  int64_t total_count;  // of the pretokens
};

// Sums up what add(pass, sums) adds to the sums of a lane, for all groups of pretokens. Each group
// is given to a `Pass`, and its method `find` is called before.
template <typename Pass, typename Add>
ExpectedCounts sum_in_lanes(const LatticesOfCorpus& of, size_t lanes, bool single_sum, Crew& crew,
                            void (Pass::*find)(), Add add) {
  Lanes all(*of.corpus, *of.lattices, lanes, single_sum, crew);
  crew.for_each(crew.size(), [&](size_t) {
    Pass pass(*of.lattices, of.arithmetic);
    all.work(pass, find, add);
  });
  return all.take_total();
}

inline void find_shared_alphas(const LatticesOfCorpus& of, Crew& crew) {
  crew.for_each(of.lattices->blocks(), [&](size_t block) {
    find_shared_alphas(of.lattices->block(block), (*of.shared_first_segments)[block],
                       of.lattices->links(), of.arithmetic);
  });
}

// Returns the expected counts of all pieces, and the objective.
inline ExpectedCounts expected_counts(const LatticesOfCorpus& of, size_t lanes, Crew& crew) {
  if (of.lattices->links().finite()) find_shared_alphas(of, crew);
  const auto add = [&](ForwardBackward& pass, ExpectedCounts& sums) {
    sums.expected.resize(of.lattices->links().pieces());
    pass.add_marginals(sums.expected.data());
    pass.for_each_likelihood([&](float frequency, float log_likelihood) {
      sums.objective -= frequency * log_likelihood / of.total_count;
    });
  };
  return sum_in_lanes(of, lanes, false, crew, &ForwardBackward::find_marginals, add);
}

// Returns the log likelihood of the corpus. The sums are taken in double.
inline double log_likelihood(const LatticesOfCorpus& of, Crew& crew) {
  constexpr size_t kLanes = 16;
  find_shared_alphas(of, crew);
  const auto add = [](ForwardBackward& pass, ExpectedCounts& sums) {
    pass.for_each_likelihood([&](float frequency, float log_likelihood) {
      sums.log_likelihood += double(frequency) * log_likelihood;
    });
  };
  return sum_in_lanes(of, kLanes, false, crew, &ForwardBackward::find_likelihoods, add)
      .log_likelihood;
}

// Returns how often each piece is in the best paths, and one position of each piece for pruning.
inline ExpectedCounts best_path_counts(const LatticesOfCorpus& of, size_t lanes, bool single_sum,
                                       Crew& crew) {
  constexpr size_t kPathsAhead = 8;  // prefetch distance
  const PrefixLinks& links = of.lattices->links();
  const auto add = [&](BestPaths& paths, ExpectedCounts& sums) {
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
  };
  return sum_in_lanes(of, lanes, single_sum, crew, &BestPaths::find, add);
}

// Returns the log likelihood of each segment, as if it were a whole pretoken.
inline std::vector<float> segment_log_likelihoods(const LatticesOfCorpus& of, Crew& crew) {
  constexpr uint32_t kAtOnce = 4096;  // segments
  std::vector<float> found(of.corpus->segments.size());
  crew.for_each((found.size() + kAtOnce - 1) / kAtOnce, [&](size_t part) {
    uint32_t segment = static_cast<uint32_t>(part * kAtOnce);
    const uint32_t last = static_cast<uint32_t>(std::min<size_t>(segment + kAtOnce, found.size()));
    float* out = found.data() + segment;
    ForwardBackward pass(*of.lattices, of.arithmetic);
    while (segment < last) {
      for (; segment < last && !pass.full(); ++segment) pass.add(&segment, 1, 1.0f);
      pass.find_likelihoods();
      pass.for_each_likelihood([&](float, float log_likelihood) { *out++ = log_likelihood; });
      pass.clear();
    }
  });
  return found;
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
