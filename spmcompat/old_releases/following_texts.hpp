// Sorts the texts that follow the occurrences of a text, and finds where they differ.
//
// The texts extend to the end of the whole text, so the text after one occurrence contains those
// after all later ones. They are sequences of the same blocks: the texts from one occurrence to the
// next. So sorting them takes a suffix array of as many numbers as there are occurrences, even if
// the whole text is one long repetition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "spmcompat/old_releases/token_text.hpp"
#include "spmcompat/runtime/cancel.hpp"

namespace spmcompat {

class FollowingTexts {
 public:
  // The nodes of the suffix tree of some texts: several texts begin with a node's text, and differ
  // after it.
  struct Nodes {
    uint64_t best = 0;      // the highest count of a node that is not at the end of the whole text
    bool branches = false;  // whether two texts differ, and one is not merely shorter
  };

  // `begins` are the tokens at which the texts begin, in ascending order. They must be the ends of
  // all occurrences of some text, and the last one must be the end of the whole text. So no block
  // is a prefix of another one.
  FollowingTexts(const TokenText& text, std::vector<size_t> begins, const CancelFlag& cancel)
      : text_(text), begins_(std::move(begins)), cancel_(cancel) {
    measure();
    sort(number_blocks());
  }

  // Returns the nodes of some of the texts, which are given by their numbers.
  Nodes nodes(std::vector<uint32_t> texts) const {
    cancel_.check();
    std::sort(texts.begin(), texts.end(), [&](auto a, auto b) { return rank_[a] < rank_[b]; });
    Nodes nodes;
    struct Open {
      size_t common;
      size_t first;
    };
    std::vector<Open> open;
    for (size_t i = 1; i <= texts.size(); ++i) {
      const bool is_last = i == texts.size();
      const size_t common = is_last ? 0 : common_size(texts[i - 1], texts[i]);
      // A text that ends at the end of the node is the shortest one, and so it is sorted first.
      if (!is_last && common != size(texts[i - 1])) nodes.branches = true;
      size_t first = i - 1;
      while (!open.empty() && (is_last || open.back().common > common)) {
        first = open.back().first;
        const bool is_at_end = size(texts[first]) == open.back().common;
        if (!is_at_end) nodes.best = std::max<uint64_t>(nodes.best, i - first);
        open.pop_back();
      }
      if (!is_last && (open.empty() || open.back().common < common))
        open.push_back({common, first});
    }
    return nodes;
  }

 private:
  size_t block_end(size_t block) const {
    return block + 1 < begins_.size() ? begins_[block + 1] : begins_[block];
  }
  // The size of a text in bytes.
  size_t size(size_t text) const { return offset_.back() - offset_[text]; }

  void measure() {
    for (size_t block = 0; block < begins_.size(); ++block) {
      offset_.push_back(offset_.empty() ? 0 : offset_.back());
      if (block == 0) continue;
      for (size_t token = begins_[block - 1]; token < begins_[block]; ++token) {
        offset_.back() += text_.text_of(token).size();
      }
    }
  }

  // Compares two blocks. Returns how many bytes they have in common, and stores whether the first
  // one is less.
  size_t compare(size_t a, size_t b, bool* is_less) const {
    TokenText::Position at{begins_[a], 0}, bt{begins_[b], 0};
    const size_t common = text_.skip_common(at, block_end(a), bt, block_end(b));
    const bool a_ends = at.token == block_end(a);
    const bool b_ends = bt.token == block_end(b);
    *is_less =
        a_ends || b_ends ? a_ends && !b_ends : text_.character_at(at) < text_.character_at(bt);
    return common;
  }
  bool is_less(size_t a, size_t b) const {
    bool less;
    compare(a, b, &less);
    return less;
  }

  // Returns a number for each block. Equal blocks have equal numbers, and a block that is less has
  // a smaller one.
  std::vector<uint32_t> number_blocks() {
    order_.resize(begins_.size());
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [&](auto a, auto b) {
      cancel_.check();
      return is_less(a, b);
    });
    return numbers([&](auto a, auto b) { return is_less(a, b); });
  }

  // Numbers the elements of order_ according to `less`, which order_ is sorted by.
  template <typename Less>
  std::vector<uint32_t> numbers(Less less) const {
    std::vector<uint32_t> result(order_.size(), 0);
    for (size_t i = 1; i < order_.size(); ++i) {
      result[order_[i]] = result[order_[i - 1]] + less(order_[i - 1], order_[i]);
    }
    return result;
  }

  // Sorts the texts by doubling the number of blocks that are compared.
  void sort(const std::vector<uint32_t>& block) {
    const size_t texts = block.size();
    rank_ = block;
    for (size_t width = 1; rank_[order_.back()] + 1 < texts; width *= 2) {
      const auto key = [&, rank = rank_](size_t i) {
        return std::pair(rank[i], i + width < texts ? rank[i + width] + 1 : 0);
      };
      const auto less = [&](auto a, auto b) { return key(a) < key(b); };
      cancel_.check();
      std::sort(order_.begin(), order_.end(), less);
      rank_ = numbers(less);
    }
    find_common(block);
  }

  // Computes how much each text has in common with the one that is sorted before it (Kasai et al.,
  // 2001).
  void find_common(const std::vector<uint32_t>& block) {
    common_.resize(block.size());
    size_t equal = 0;
    for (size_t i = 0; i < block.size(); ++i) {
      cancel_.check();
      if (rank_[i] == 0) {
        equal = 0;
        continue;
      }
      const size_t j = order_[rank_[i] - 1];
      // The last block is empty, and no other block is. So this stops at the end of the texts.
      while (block[i + equal] == block[j + equal]) ++equal;
      bool less;
      common_[rank_[i]] = offset_[i + equal] - offset_[i] + compare(i + equal, j + equal, &less);
      if (equal > 0) --equal;
    }
  }

  // Returns how many bytes two texts have in common. `a` must be sorted before `b`.
  size_t common_size(size_t a, size_t b) const {
    return *std::min_element(common_.begin() + rank_[a] + 1, common_.begin() + rank_[b] + 1);
  }

  const TokenText& text_;
  std::vector<size_t> begins_;
  const CancelFlag& cancel_;
  std::vector<size_t> offset_;   // the number of bytes between the first begin and each begin
  std::vector<uint32_t> order_;  // the numbers of the texts, sorted
  std::vector<uint32_t> rank_;   // the position of each text in order_
  std::vector<size_t> common_;   // how much the texts at each position of order_ and the one before
                                 // have in common
};

}  // namespace spmcompat
