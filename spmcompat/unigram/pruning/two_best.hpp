// The two best segmentations of a piece's own text. If the piece is dropped, the second-best
// segmentation replaces it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "spmcompat/containers/gnu_heap.hpp"
#include "spmcompat/unigram/lattice/lattice.hpp"
#include "spmcompat/unigram/lattice/prefix_links.hpp"
#include "spmcompat/unigram/piece_trie.hpp"
#include "spmcompat/unigram/pieces.hpp"

namespace spmcompat {

// The lattice of one piece's own text, with a node for the start of the text and one for its end.
class PieceLattice {
 public:
  struct Node {
    uint32_t begin, end;  // positions in characters
    uint32_t piece;
    float score;
    float best;  // score of the best path from the start of the text through this node
  };
  static constexpr uint32_t kBegin = 0, kEnd = 1;

  // Copies the lattice of the piece from the lattice of a segment that contains the piece at
  // `position`. Every occurrence of the piece gives the same lattice.
  void build(const Lattices& lattices, const NodePosition& position, uint32_t length) {
    clear(length);
    const PrefixLinks& links = lattices.links();
    const uint32_t* first_nodes = lattices[position.segment].first_nodes + position.begin;
    for (uint32_t begin = 0; begin < length; ++begin) {
      links.for_each(first_nodes[begin], [&](uint32_t id, const LinkedPiece& piece) {
        if (begin + piece.length > length) return;
        add(begin, piece.length, links.is_unknown(id) ? 0 : id, piece.score);
      });
    }
  }

  // Builds the lattice of the piece's own text.
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
      // In training, the reference's unknown piece has the id 0.
      if (!single) add(i, 1, 0, unknown_score);
    }
  }

  uint32_t length() const { return nodes_[kEnd].begin; }
  Node& operator[](uint32_t id) { return nodes_[id]; }
  const std::vector<uint32_t>& ending_at(uint32_t position) const { return ends_[position]; }
  uint32_t size() const { return static_cast<uint32_t>(nodes_.size()); }

  // Fills `best` of every node. Nodes are sorted by `begin`, so the left neighbours of a node are
  // filled before it.
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

// The result of segmenting a piece's own text.
enum class Resegmentation {
  kOnlyPath,     // no other path exists, or the search gave up: the piece stays
  kSplit,        // the best path has several pieces: the piece is dropped
  kAlternative,  // the best path is the piece; the second-best one is its alternative
};

// Finds the two best paths by A*, from the end to the start of the text. The agenda is a binary
// heap that compares only the estimates. The heap functions of the standard library determine the
// order of hypotheses with equal estimates, as in the reference. The search has the limits of the
// reference. Releases before 0.2.3 only limit the size of the agenda (`limited` is false).
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
  // A path from a node to the end of the text.
  struct Hypothesis {
    uint32_t node;
    const Hypothesis* next;  // the same path without its first node
    float estimate;          // the best score of any complete path that ends with this path
    float path;              // the score of the path itself
  };
  struct Lower {
    bool operator()(const Hypothesis* a, const Hypothesis* b) const {
      return a->estimate < b->estimate;
    }
  };
  using Agenda = GnuHeap<Hypothesis*, Lower>;

  static constexpr size_t kMaxAgenda = 10000;
  static constexpr size_t kShrunkAgenda = 20;
  static constexpr size_t kMaxHypotheses = 100000;
  static constexpr size_t kMaxTotal = 500000;
  static constexpr int kMaxShrinks = 10;

  // Returns false if the search gives up.
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

  // Keeps only the best hypotheses, with their paths.
  void shrink() {
    std::deque<Hypothesis> kept;
    std::unordered_map<const Hypothesis*, Hypothesis*> copies;
    Agenda shrunk;
    for (size_t i = 0; i < kShrunkAgenda && !agenda_.empty(); ++i) {
      shrunk.push(copy_path(agenda_.top(), kept, copies));
      agenda_.pop();
    }
    agenda_.swap(shrunk);
    hypotheses_.swap(kept);
  }

  // Copies a hypothesis and its path. `copies` maps hypotheses to existing copies.
  static Hypothesis* copy_path(const Hypothesis* from, std::deque<Hypothesis>& kept,
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
  size_t found_ = 0;  // the number of paths found so far
};

}  // namespace spmcompat
