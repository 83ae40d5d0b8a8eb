// The vocabulary of a tokenizer.json while it is trained: tokens with their texts and ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace spmcompat {

// A merge of two tokens, by their ids. `count` is how often it was made in the text.
struct TokenMerge {
  uint32_t left, right, token;
  uint64_t count;
};

class TokenTexts {
 public:
  TokenTexts() = default;
  // `prefix` is the affix of letters inside words. It is dropped from the right part of a merge.
  // The texts must be distinct.
  TokenTexts(std::vector<std::string> texts, std::string prefix)
      : texts_(std::move(texts)), prefix_(std::move(prefix)) {
    for (uint32_t token = 0; token < texts_.size(); ++token) ids_.emplace(texts_[token], token);
  }

  size_t size() const { return texts_.size(); }
  const std::string& operator[](uint32_t token) const { return texts_[token]; }

  // Returns the token of a merge, which is new if no other token has the same text.
  uint32_t merge(uint32_t left, uint32_t right) {
    std::string_view rest = texts_[right];
    if (rest.substr(0, prefix_.size()) == prefix_) rest.remove_prefix(prefix_.size());
    std::string text = texts_[left];
    text.append(rest);
    const auto [found, is_new] = ids_.emplace(text, static_cast<uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(std::move(text));
    return found->second;
  }

 private:
  std::vector<std::string> texts_;
  std::unordered_map<std::string, uint32_t> ids_;
  std::string prefix_;
};

}  // namespace spmcompat
