// The whole text as a sequence of pretokens and ends of sentences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class TokenText {
 public:
  static constexpr uint32_t kEnd = 0xffffffffu;  // a character that no text contains

  struct Position {
    size_t token;
    size_t byte;
  };

  explicit TokenText(const PretokenTable& pretokens) : pretokens_(pretokens) {}

  void add_sentence(const SentenceOrder& order, size_t sentence) {
    if (!order.begin.empty()) {
      tokens_.insert(tokens_.end(), order.pretokens.begin() + order.begin[sentence],
                     order.pretokens.begin() + order.begin[sentence + 1]);
    } else {
      tokens_.push_back(order.last[sentence]);
    }
    tokens_.push_back(kNoPretoken);
  }
  void add_empty_sentences(size_t n) { tokens_.insert(tokens_.end(), n, kNoPretoken); }

  size_t size() const { return tokens_.size(); }
  // The id of a pretoken, or kNoPretoken at the end of a sentence.
  uint32_t operator[](size_t token) const { return tokens_[token]; }
  std::string_view text_of(size_t token) const {
    constexpr std::string_view kZero("\0", 1);
    return tokens_[token] == kNoPretoken ? kZero : pretokens_[tokens_[token]];
  }

  // Advances two positions over the characters that the texts after them have in common, at most to
  // the tokens `a_to` and `b_to`. Returns the size of these characters in bytes.
  size_t skip_common(Position& a, size_t a_to, Position& b, size_t b_to) const {
    size_t bytes = 0;
    while (a.token < a_to && b.token < b_to) {
      if (a.byte == 0 && b.byte == 0 && tokens_[a.token] == tokens_[b.token]) {
        bytes += text_of(a.token).size();
        ++a.token;
        ++b.token;
      } else if (character_at(a) == character_at(b)) {
        bytes += step_right(a);
        step_right(b);
      } else {
        break;
      }
    }
    return bytes;
  }

  uint32_t character_at(const Position& position) const {
    if (position.token == tokens_.size()) return kEnd;
    const std::string_view text = text_of(position.token);
    size_t size;
    return decode_utf8(text.data() + position.byte, text.data() + text.size(), &size);
  }
  // Moves one character to the right, and returns the size of the character that was passed.
  size_t step_right(Position& position) const {
    const std::string_view text = text_of(position.token);
    const size_t size = std::min(char_size(text[position.byte]), text.size() - position.byte);
    position.byte += size;
    if (position.byte == text.size()) position = {position.token + 1, 0};
    return size;
  }
  // Moves one character to the left, and returns that character, or kEnd at the beginning.
  uint32_t step_left(Position& position) const {
    if (position.byte == 0) {
      if (position.token == 0) return kEnd;
      --position.token;
      position.byte = text_of(position.token).size();
    }
    const std::string_view text = text_of(position.token);
    do --position.byte;
    while (is_trail(text[position.byte]));
    return character_at(position);
  }

 private:
  const PretokenTable& pretokens_;
  std::vector<uint32_t> tokens_;
};

}  // namespace spmcompat
