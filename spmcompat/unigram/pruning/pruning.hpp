// Pruning: which pieces the text can spare.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <vector>

#include "spmcompat/unigram/em/e_step.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// The lattice of one piece's own text, with a node for the begin and one for the end.
class PieceLattice {
 public:
  struct Node {
    uint32_t begin, end;  // in characters
    uint32_t piece;
    float score;
    float best;  // of the paths from the begin of the text through this node
  };
  static constexpr uint32_t kBegin = 0, kEnd = 1;

  // From any place where the piece occurs: its own lattice is part of that around it.
  void build(const Lattices& lattices, const NodePlace& place, uint32_t length) {
    clear(length);
    const PieceChains& chains = lattices.chains();
    const uint32_t* tops = lattices[place.segment].tops + place.begin;
    for (uint32_t begin = 0; begin < length; ++begin) {
      chains.for_each(tops[begin], [&](uint32_t id, const ChainNode& node) {
        if (begin + node.length > length) return;
        add(begin, node.length, chains.is_unknown(id) ? 0 : id, node.score);
      });
    }
  }

  // From its text alone.
  void build(const PieceTrie& trie, const Pieces& pieces, uint32_t id, float unknown_score) {
    decode_text(pieces[id], text_);
    const uint32_t length = static_cast<uint32_t>(text_.size());
    clear(length);
    for (uint32_t i = 0; i < length; ++i) {
      bool single = false;
      trie.for_each_prefix(text_.data() + i, length - i, [&](size_t size, uint32_t found) {
        add(i, static_cast<uint32_t>(size), found, pieces.score[found]);
        single |= size == 1;
      });
      if (!single) add(i, 1, 0, unknown_score);  // the reference's unknown id is 0
    }
  }

  uint32_t length() const { return nodes_[kEnd].begin; }
  Node& operator[](uint32_t id) { return nodes_[id]; }
  const std::vector<uint32_t>& ending_at(uint32_t position) const { return ends_[position]; }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  // Fills `best` of every node: nodes lie by begin ascending, so what ends before is known.
  void find_best() {
    for (uint32_t id = 2; id < nodes_.size(); ++id) find_best(nodes_[id]);
    find_best(nodes_[kEnd]);
  }

 private:
  void clear(uint32_t length) {
    nodes_.assign({Node{0, 0, 0, 0.0f, 0.0f}, Node{length, length, 0, 0.0f, 0.0f}});
    if (ends_.size() < length + 1) ends_.resize(length + 1);
    for (uint32_t i = 0; i <= length; ++i) ends_[i].clear();
    ends_[0].push_back(kBegin);
  }
  void add(uint32_t begin, uint32_t size, uint32_t piece, float score) {
    ends_[begin + size].push_back(static_cast<uint32_t>(nodes_.size()));
    nodes_.push_back(Node{begin, begin + size, piece, score, 0.0f});
  }
  void find_best(Node& node) const {
    bool first = true;
    for (const uint32_t left : ends_[node.begin]) {
      const float score = nodes_[left].best + node.score;
      if (first || score > node.best) node.best = score;
      first = false;
    }
  }

  std::vector<char32_t> text_;
  std::vector<Node> nodes_;
  std::vector<std::vector<uint32_t>> ends_;
};

// How a piece's text is segmented with and without the piece.
enum class Resegmentation {
  kOnlyPath,     // no other path, or the search gave up: the piece stays
  kSplit,        // the best path is of several pieces: the piece goes
  kAlternative,  // the second-best path replaces the piece
};

// The two best paths by A*, from the end to the begin of the text. The agenda is a binary heap
// that compares the estimate only, so equal estimates come out as the standard library's heap
// functions leave them; the limits on its size are those of the reference, where it has any but
// that on the agenda.
class TwoBest {
 public:
  explicit TwoBest(bool limited) : limited_(limited) {}

  Resegmentation find(PieceLattice& lattice, std::vector<uint32_t>& alternative) {
    lattice.find_best();
    alternative.clear();
    if (!search(lattice) || found_ < 2) return Resegmentation::kOnlyPath;
    if (paths_[0].size() >= 2) return Resegmentation::kSplit;
    alternative = paths_[1];
    return Resegmentation::kAlternative;
  }

 private:
  struct Hypothesis {
    uint32_t node;
    const Hypothesis* next;
    float estimate;
    float path;
  };
  struct Lower {
    bool operator()(const Hypothesis* a, const Hypothesis* b) const {
      return a->estimate < b->estimate;
    }
  };
  // A queue that keeps its room.
  struct Agenda : std::priority_queue<Hypothesis*, std::vector<Hypothesis*>, Lower> {
    void clear() { c.clear(); }
  };

  static constexpr size_t kMaxAgenda = 10000;
  static constexpr size_t kShrunkAgenda = 20;
  static constexpr size_t kMaxHypotheses = 100000;
  static constexpr size_t kMaxTotal = 500000;
  static constexpr int kMaxShrinks = 10;

  // False when the search gives up.
  bool search(PieceLattice& lattice) {
    found_ = 0;
    hypotheses_.clear();
    agenda_.clear();
    agenda_.push(allocate({PieceLattice::kEnd, nullptr, lattice[PieceLattice::kEnd].best, 0.0f}));
    size_t total = 1;
    size_t max_hypotheses = kMaxHypotheses;
    int shrinks = 0;
    while (!agenda_.empty()) {
      const Hypothesis* top = agenda_.top();
      agenda_.pop();
      if (top->node == PieceLattice::kBegin) {
        keep_path(lattice, *top);
        if (found_ == 2) return true;
        continue;
      }
      const std::vector<uint32_t>& lefts = lattice.ending_at(lattice[top->node].begin);
      for (const uint32_t left : lefts) {
        const PieceLattice::Node& node = lattice[left];
        agenda_.push(allocate({left, top, node.best + top->path, node.score + top->path}));
      }
      total += lefts.size();
      if (limited_ && (total >= kMaxTotal || hypotheses_.size() >= kMaxTotal)) return false;
      if (agenda_.size() >= kMaxAgenda ||
          (limited_ && agenda_.size() > kShrunkAgenda && hypotheses_.size() >= max_hypotheses)) {
        if (limited_ && shrinks++ >= kMaxShrinks) return false;
        shrink();
        max_hypotheses = hypotheses_.size() + kMaxHypotheses;
      }
    }
    return true;
  }

  Hypothesis* allocate(const Hypothesis& hypothesis) {
    hypotheses_.push_back(hypothesis);
    return &hypotheses_.back();
  }

  void keep_path(PieceLattice& lattice, const Hypothesis& first) {
    std::vector<uint32_t>& path = paths_[found_++];
    path.clear();
    for (const Hypothesis* h = first.next; h != nullptr && h->next != nullptr; h = h->next) {
      path.push_back(lattice[h->node].piece);
    }
  }

  // Keeps the best hypotheses and what they lead to.
  void shrink() {
    std::deque<Hypothesis> kept;
    std::unordered_map<const Hypothesis*, Hypothesis*> copies;
    Agenda shrunk;
    for (size_t i = 0; i < kShrunkAgenda && !agenda_.empty(); ++i) {
      shrunk.push(copy_chain(agenda_.top(), kept, copies));
      agenda_.pop();
    }
    agenda_.swap(shrunk);
    hypotheses_.swap(kept);
  }

  static Hypothesis* copy_chain(const Hypothesis* from, std::deque<Hypothesis>& kept,
                                std::unordered_map<const Hypothesis*, Hypothesis*>& copies) {
    Hypothesis* head = nullptr;
    Hypothesis* previous = nullptr;
    for (; from != nullptr; from = from->next) {
      const auto found = copies.find(from);
      Hypothesis* copy = found == copies.end() ? nullptr : found->second;
      if (copy == nullptr) {
        kept.push_back(*from);
        copy = &kept.back();
        copies.emplace(from, copy);
      }
      if (previous != nullptr) previous->next = copy;
      if (head == nullptr) head = copy;
      if (found != copies.end()) break;
      previous = copy;
    }
    return head;
  }

  bool limited_;
  std::deque<Hypothesis> hypotheses_;
  Agenda agenda_;
  std::array<std::vector<uint32_t>, 2> paths_;
  size_t found_ = 0;  // paths
};

inline float sum_counts(const std::vector<float>& count) {
  double total = 0.0;
  for (const float c : count) total += c;
  return static_cast<float>(total);
}

// What losses are measured by: how often each piece stands in the best paths, and how much its loss
// weighs, which is what its occurrences are of `total`.
struct LossScale {
  const std::vector<float>* counts;
  const std::vector<float>* occurrences;
  float total;
  float sum;  // of the counts
  float log_sum;

  LossScale() = default;
  LossScale(const std::vector<float>& counts, const std::vector<float>& occurrences, float total)
      : counts(&counts),
        occurrences(&occurrences),
        total(total),
        sum(sum_counts(counts)),
        log_sum(std::log(static_cast<double>(sum))) {}

  // How much the likelihood falls when the piece is replaced by its alternative everywhere.
  // Every intermediate is a float, every logarithm a double, as in the reference.
  float loss(uint32_t id, const std::vector<uint32_t>& alternative) const {
    const std::vector<float>& count = *counts;
    const float share = (*occurrences)[id] / total;
    const float log_piece = std::log(static_cast<double>(count[id])) - log_sum;
    const float log_sum_after = std::log(
        static_cast<double>(sum + count[id] * static_cast<float>(alternative.size() - 1)));
    float log_alternative = 0.0f;
    for (const uint32_t piece : alternative) {
      log_alternative +=
          std::log(static_cast<double>(count[piece] + count[id])) - log_sum_after;
    }
    return share * (log_piece - log_alternative);
  }
};

// The pieces of a part that may stay, by whether another segmentation could replace them.
struct Candidates {
  std::vector<uint32_t> without_alternative;
  std::vector<uint64_t> by_loss;  // keys of those that have one
};

// Sorted, keys give losses descending, and ids ascending where losses are equal.
inline uint64_t loss_key(float loss, uint32_t id) {
  uint32_t bits;
  loss += 0.0f;  // there is no other zero
  std::memcpy(&bits, &loss, sizeof bits);
  const uint32_t ascending = bits >> 31 ? ~bits : bits | 0x80000000u;
  return uint64_t{~ascending} << 32 | id;
}

// Sends for what the lattices of the pieces to come are built from, which lies all over the memory.
inline void fetch_ahead(const Lattices& lattices, const LaneSums& counts, uint32_t id) {
  const auto for_place = [&](uint32_t later, auto function) {
    if (later < counts.places.size() && counts.places[later].known()) {
      function(counts.places[later]);
    }
  };
  for_place(id + 12, [&](const NodePlace& place) { lattices.fetch_begin(place.segment); });
  for_place(id + 8, [&](const NodePlace& place) { lattices.fetch_positions(place.segment); });
  for_place(id + 4, [&](const NodePlace& place) {
    const LatticeView view = lattices[place.segment];
    const uint32_t length = lattices.chains()[id + 4].length;
    for (uint32_t i = 0; i < length; ++i) {
      __builtin_prefetch(&lattices.chains()[view.tops[place.begin + i]]);
    }
  });
}

// Of the pieces [first, last) those that the text uses and whose text is best segmented as the
// piece itself.
inline Candidates find_candidates(const Pieces& pieces, const Lattices& lattices,
                                  const LaneSums& counts, const LossScale& scale, uint32_t first,
                                  uint32_t last, bool limited, const volatile int* cancel) {
  PieceLattice lattice;
  TwoBest two_best(limited);
  Candidates result;
  std::vector<uint32_t> alternative;
  for (uint32_t id = first; id < last && !*cancel; ++id) {
    fetch_ahead(lattices, counts, id);
    if (counts.expected[id] == 0) continue;
    if (counts.places[id].known()) {
      lattice.build(lattices, counts.places[id], lattices.chains()[id].length);
    } else {  // Only unknown characters count for it: it is the piece of id 0.
      lattice.build(PieceTrie(pieces), pieces, id, pieces.unknown_score());
    }
    switch (two_best.find(lattice, alternative)) {
      case Resegmentation::kOnlyPath: result.without_alternative.push_back(id); break;
      case Resegmentation::kSplit: break;
      case Resegmentation::kAlternative:
        result.by_loss.push_back(loss_key(scale.loss(id, alternative), id));
    }
  }
  return result;
}

// Sorts keys of ids that ascend; no comparison of keys is as fast.
inline void sort_keys(std::vector<uint64_t>& keys) {
  constexpr int kBits = 11;
  constexpr uint64_t kDigits = 1 << kBits;
  std::vector<uint64_t> sorted(keys.size());
  for (int shift = 32; shift < 64; shift += kBits) {
    std::array<size_t, kDigits + 1> begin{};
    for (const uint64_t key : keys) ++begin[(key >> shift) % kDigits + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const uint64_t key : keys) sorted[begin[(key >> shift) % kDigits]++] = key;
    keys.swap(sorted);
  }
}

// The ids of the pieces that stay, in the order of their new ids: first those without an
// alternative, then by loss descending, id ascending, until `size` are reached.
inline std::vector<uint32_t> select_pieces(const std::vector<Candidates>& parts, size_t size) {
  std::vector<uint32_t> kept;
  std::vector<uint64_t> by_loss;
  for (const Candidates& part : parts) {
    kept.insert(kept.end(), part.without_alternative.begin(), part.without_alternative.end());
    by_loss.insert(by_loss.end(), part.by_loss.begin(), part.by_loss.end());
  }
  sort_keys(by_loss);
  for (const uint64_t key : by_loss) {
    if (kept.size() == size) break;
    kept.push_back(static_cast<uint32_t>(key));
  }
  return kept;
}

}  // namespace spmcompat
