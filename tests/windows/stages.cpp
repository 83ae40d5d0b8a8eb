// Runs the vector kernels and the stages of training in C++ alone, and prints the exact results. So
// platforms without Python can be compared: tools/windows compares Windows with this machine, and
// test_stages.py compares this machine with the package.
//
//   stages TEXT
//
// Lines that begin with "kernel" and "unigram" depend on exp and log of the C library.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spmcompat/bpe/merges.hpp"
#include "spmcompat/counting/counter.hpp"
#include "spmcompat/counting/merging.hpp"
#include "spmcompat/segments/cut.hpp"
#include "spmcompat/segments/segment_counts.hpp"
#include "spmcompat/text/lines.hpp"
#include "spmcompat/unigram/em/e_step.hpp"
#include "spmcompat/unigram/em/m_step.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/pruning/pruning.hpp"
#include "spmcompat/unigram/seeding/ranking.hpp"
#include "spmcompat/unigram/seeding/suffix_tree.hpp"

namespace spmcompat {
namespace {

constexpr size_t kWorkers = 3;

uint32_t bits_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Random floats in [low, high), the same on every platform.
std::vector<float> random_floats(size_t size, float low, float high, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<float> found(size);
  for (float& x : found) x = low + (high - low) * static_cast<float>(random() >> 40) * 0x1p-24f;
  return found;
}

using LogSumExps = void (*)(const float*, const float*, LogSumExp, float*, size_t);
using AddExps = void (*)(const float*, const float*, const float*, float*, size_t);

// Prints how many results of the kernels differ from the expressions of the reference.
void check_kernels(const char* processor, LogSumExps log_sum_exps, AddExps add_exps) {
  constexpr size_t kSize = 2'000'001;  // not a multiple of four, the number of floats in a vector
  const LogSumExp exact = exact_log_sum_exp(true);
  const std::vector<float> x = random_floats(kSize, -80, 0, 1), y = random_floats(kSize, -80, 0, 2);
  const std::vector<float> frequencies = random_floats(kSize, 1, 1e6f, 3);
  std::vector<float> sums(kSize), totals(kSize);
  log_sum_exps(x.data(), y.data(), exact, sums.data(), kSize);
  add_exps(frequencies.data(), frequencies.data(), x.data(), totals.data(), kSize);
  size_t different = 0;
  uint64_t hash = 0;
  for (size_t i = 0; i < kSize; ++i) {
    different += bits_of(sums[i]) != bits_of(exact(x[i], y[i]));
    const float total = exact::add_exp(frequencies[i], frequencies[i], x[i]);
    different += bits_of(totals[i]) != bits_of(total);
    hash = (hash ^ bits_of(sums[i]) ^ uint64_t{bits_of(totals[i])} << 32) * 0x9e3779b97f4a7c15u;
  }
  std::printf("%s: %u different\n", processor, static_cast<unsigned>(different));
  std::printf("kernel %016" PRIx64 "\n", hash);
}

// The plan for training a Unigram model with default options.
Plan default_plan() {
  Plan plan{};
  CuttingPlan& cutting = plan.cutting;
  cutting.max_piece_length = 16;
  cutting.split_by_unicode_script = cutting.split_by_number = cutting.split_by_whitespace = true;
  cutting.boundary = 31;
  CountingPlan& counting = plan.counting;
  counting.add_dummy_prefix = counting.remove_extra_whitespaces = true;
  counting.uniform_starts = counting.by_raw_tokens = counting.removes_all_empty = true;
  counting.keeps_contexts = counting.keeps_pretokens = true;
  return plan;
}

template <typename Stage>
void run(Crew& crew, Stage stage) {
  crew.start(stage);
  while (!crew.await_end(0.03)) {
  }
  crew.finish();
}

// Counts a text in one batch per worker.
CountedText count(const std::string& text, const Plan& plan, const SentenceNormalizer& normalizer,
                  Crew& crew) {
  CountedText counted;
  std::vector<BatchLog> logs(kWorkers);
  for (size_t i = 0; i < kWorkers; ++i) {
    counted.add(std::make_unique<Counter>(plan, normalizer));
  }
  const auto begin_of = [&](size_t batch) {
    const size_t at = text.find('\n', text.size() / kWorkers * batch);
    return batch == 0 ? 0 : at == std::string::npos ? text.size() : at + 1;
  };
  run(crew, [&] {
    crew.for_each(kWorkers, [&](size_t i) {
      const size_t begin = begin_of(i);
      const size_t end = i + 1 == kWorkers ? text.size() : begin_of(i + 1);
      Counter& counter = *counted.counters[i];
      counter.begin_batch(i, false);
      SentenceSelector selector(nullptr, counter);
      LineFilter filter(4192, false, false, false, false);
      filter.for_each_sentence(text.data() + begin, end - begin,
                               [&](const char* sentence, size_t size, int64_t count) {
                                 selector.add_sentence(sentence, size, count);
                                 return true;
                               });
      logs[i] = counter.end_batch();
    });
  });
  for (size_t i = 0; i < kWorkers; ++i) counted.add(std::move(logs[i]), i);
  return counted;
}

// All characters with their counts, by count descending, then by code point.
std::vector<std::pair<char32_t, uint64_t>> alphabet_of(const CharacterCounts& counts) {
  std::vector<std::pair<char32_t, uint64_t>> alphabet = counts.counted();
  std::sort(alphabet.begin(), alphabet.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  return alphabet;
}

void print_scores(const char* name, const Pieces& pieces) {
  for (uint32_t id = 0; id < pieces.size(); ++id) {
    std::printf("%s %s %08" PRIx32 "\n", name, piece_text(pieces, id).c_str(),
                bits_of(pieces.score[id]));
  }
}

void train(const std::string& text) {
  const Plan plan = default_plan();
  const PieceRule rule(plan.cutting);
  const SentenceNormalizer normalizer("", {}, plan);
  CancelFlag cancel;
  Crew crew(kWorkers, cancel);
  CountedText counted = count(text, plan, normalizer, crew);
  std::unique_ptr<PretokenCounts> merged;
  SentenceOrder order;
  CharacterCounts characters;
  CutText cut;
  Pieces seeds;
  run(crew, [&] {
    const uint64_t sentences = merge_text(counted, merged, order, plan.counting, false, crew);
    std::printf("sentences %" PRIu64 "\n", sentences);
    characters = count_characters(merged, crew);
    std::vector<char32_t> required;
    for (const auto& [c, uses] : alphabet_of(characters)) {
      required.push_back(c);
      std::string one;
      append_utf8(c, one);
      seeds.add(one, static_cast<float>(uses));
      std::printf("character U+%04X %" PRIu64 "\n", static_cast<unsigned>(c), uses);
    }
    cut = cut_counts(merged, order, required, plan, false, true, crew);
  });
  const SegmentedCorpus& corpus = cut.corpus;
  std::printf("segments %u\n", static_cast<unsigned>(corpus.segments_size()));

  run(crew, [&] {
    SegmentCounts segments = count_segments(corpus, crew);
    const std::unique_ptr<Merges> merges =
        Merges::of_text(segments, rule, 2000, false, nullptr, crew);
    merges->make(2000, crew);
    for (size_t i = 0; i < merges->size(); ++i) {
      std::printf("merge %s %" PRIu64 "\n", merges->piece(i).c_str(), merges->count(i));
    }
  });

  run(crew, [&] {
    SeedRule seed_rule;
    seed_rule.limit = 20'000;
    seed_rule.vocab_size = 8000;
    const auto search =
        SuffixTreeSearch::prepare(corpus, cut.text_bytes, rule, seed_rule, SeedTree(), crew);
    search->find(crew);
    std::vector<uint64_t> uses;
    const uint32_t characters = seeds.size();
    seeds = add_best(seeds, *search, seed_rule.limit, &uses, crew);
    for (size_t i = 0; i < uses.size(); ++i) {
      const uint32_t id = static_cast<uint32_t>(characters + i);
      std::printf("seed %s %" PRIu64 "\n", piece_text(seeds, id).c_str(), uses[i]);
    }
    to_log_probabilities(seeds.score);

    Pieces pieces = seeds;
    Lattices lattices = Lattices::build(corpus, pieces, true, crew);
    for (int round = 0; round < 3; ++round) {
      for (int step = 0; step < 2; ++step) {
        const ExpectedCounts counts = expected_counts(lattices, 16, crew);
        KeptPieces kept = m_step(pieces, counts.expected, MStepRule(), crew);
        lattices.renumber(kept.pieces, kept.new_ids, crew);
        pieces = std::move(kept.pieces);
      }
      const ExpectedCounts best = best_path_counts(lattices, 16, false, crew);
      const Losses losses = find_losses(pieces, lattices, best, best.expected,
                                        sum_counts(best.expected), true, crew);
      KeptPieces kept = select_by_loss(pieces, losses, pieces.size() * 3 / 4);
      lattices.renumber(kept.pieces, kept.new_ids, crew);
      pieces = std::move(kept.pieces);
    }
    print_scores("unigram", pieces);
  });
}

}  // namespace
}  // namespace spmcompat

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (text.empty()) return 1;
  spmcompat::check_kernels("any processor", spmcompat::any_processor::log_sum_exp_arrays,
                           spmcompat::any_processor::add_exp_arrays);
  if (spmcompat::has_avx2()) {
    spmcompat::check_kernels("avx2", spmcompat::avx2::log_sum_exp_arrays,
                             spmcompat::avx2::add_exp_arrays);
  }
  spmcompat::train(text);
}
