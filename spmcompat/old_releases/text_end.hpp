// Substrings that the end of the text hides in part from a search for seeds.
//
// Some releases cut the nodes of a suffix tree into pieces, and drop nodes that end where the text
// ends (seed_rule.hpp). A piece that does not branch by itself is yielded by what it continues
// with until the text branches. If wherever the piece stands it continues as it does where it
// stands last, up to the end of the text, that node is dropped. Then the piece counts as often as
// the best of the nodes that go further yields it: to the right they reach into the next
// sentences, to the left, of a whole word, into what stands before.
//
// The text is a sequence of words and ends of sentences. There are few such pieces, and most of
// them stand but once or twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/counting/pretoken_counts.hpp"

namespace spmcompat {

class TextEnd {
 public:
  // Each sentence stands `copies` times in a row.
  TextEnd(const WordTable& words, const PieceRule& rule, const SentenceOrder& order, int copies)
      : words_(words), rule_(rule) {
    const auto add = [&](size_t sentence) {
      for (int copy = 0; copy < copies; ++copy) add_sentence(order, sentence);
    };
    const auto add_empty = [&](int64_t) { tokens_.insert(tokens_.end(), copies, kNoWord); };
    order.for_each(add, add_empty);
    for (uint32_t shard = 0; shard < words.shards(); ++shard) {
      totals_.push_back(words.totals(shard));
    }
  }

  // The pieces concerned, and the counts that are left to them.
  SeedCounts counts() const {
    SeedCounts found;
    if (tokens_.empty()) return found;
    std::unordered_set<uint32_t> seen;
    // Where the text continues as it ends, from the token `last` on.
    std::vector<size_t> places;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i] == kNoWord) places.push_back(i);
    }
    for (size_t last = tokens_.size() - 1; last > 0 && places.size() > 1; --last) {
      const uint32_t word = tokens_[last - 1];
      // A piece that stands again further on was looked at there.
      if (word != kNoWord && seen.insert(word).second) add_suffixes(word, places, found);
      std::vector<size_t> before;
      for (const size_t place : places) {
        if (place > 0 && tokens_[place - 1] == word) before.push_back(place - 1);
      }
      places.swap(before);
    }
    return found;
  }

 private:
  static constexpr uint32_t kEnd = 0xffffffffu;  // a symbol that no text holds

  struct Place {
    size_t token;
    size_t byte;
  };
  // Where a piece begins and where it ends.
  struct Occurrence {
    Place begin, end;
  };

  void add_sentence(const SentenceOrder& order, size_t sentence) {
    if (!order.word_begin.empty()) {
      tokens_.insert(tokens_.end(), order.words.begin() + order.word_begin[sentence],
                     order.words.begin() + order.word_begin[sentence + 1]);
    } else {
      tokens_.push_back(order.last[sentence]);
    }
    tokens_.push_back(kNoWord);
  }

  // Looks at the pieces that end a word, the longest first. Once one of them stands elsewhere too,
  // so do all shorter ones.
  void add_suffixes(uint32_t word, const std::vector<size_t>& places,
                    SeedCounts& found) const {
    std::vector<char32_t> characters;
    std::vector<size_t> begins;
    const std::string_view text = words_[word];
    for (size_t i = 0; i < text.size();) {
      size_t size;
      begins.push_back(i);
      characters.push_back(decode_utf8(text.data() + i, text.data() + text.size(), &size));
      i += size;
    }
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      const std::string_view piece = text.substr(begins[i]);
      if (!rule_.allows(characters.data() + i, characters.size() - i)) continue;
      const std::vector<Occurrence> occurrences = before(places, piece);
      if (occurrences.size() < 2) continue;
      if (count(piece) != occurrences.size()) return;
      found.emplace(piece, best_count(occurrences));
    }
  }

  std::vector<Occurrence> before(const std::vector<size_t>& places, std::string_view piece) const {
    std::vector<Occurrence> result;
    for (const size_t place : places) {
      if (place == 0 || tokens_[place - 1] == kNoWord) continue;
      const std::string_view word = words_[tokens_[place - 1]];
      if (word.size() < piece.size() || word.substr(word.size() - piece.size()) != piece) continue;
      result.push_back({{place - 1, word.size() - piece.size()}, {place, 0}});
    }
    return result;
  }

  // How often the piece stands in the text.
  uint64_t count(std::string_view piece) const {
    uint64_t count = 0;
    for (uint32_t shard = 0; shard < words_.shards(); ++shard) {
      for (uint32_t place = 0; place < totals_[shard].size(); ++place) {
        if (totals_[shard][place] == 0) continue;
        const std::string_view word = words_[words_.id(shard, place)];
        for (size_t at = 0; (at = word.find(piece, at)) != std::string_view::npos; ++at) {
          count += totals_[shard][place];
        }
      }
    }
    return count;
  }

  uint64_t best_count(const std::vector<Occurrence>& occurrences) const {
    bool branches = false;
    uint64_t best = branch(occurrences, branches);
    // Where nothing branches to the right, nothing does that has more to its left: so a text that
    // ends in a long repetition takes no long search.
    if (!branches) return 0;
    std::vector<Occurrence> whole;
    for (const Occurrence& o : occurrences) {
      if (o.begin.byte == 0) whole.push_back(o);
    }
    extend_left(std::move(whole), occurrences.size(), best);
    return best;
  }

  // How many of these occurrences of one text share the best node among their continuations.
  // `branches` is set if there is any branch but the end of the text.
  uint64_t branch(std::vector<Occurrence> group, bool& branches) const {
    while (group.size() > 1) {
      // The last place is the first to reach the end of the text.
      if (symbol_at(group.back().end) == kEnd) {
        group.pop_back();
        const auto parts = split(group, [this](Occurrence& o) { return symbol_at(o.end); });
        if (parts.size() == 1) continue;
        branches = true;
        uint64_t best = 0;
        for (const auto& [symbol, part] : parts) best = std::max(best, branch(part, branches));
        return best;
      }
      const uint32_t symbol = symbol_at(group.front().end);
      for (const Occurrence& o : group) {
        if (symbol_at(o.end) == symbol) continue;
        branches = true;
        return group.size();
      }
      for (Occurrence& o : group) step_right(o.end);
    }
    return 0;
  }

  // Looks for better nodes that begin before the piece. `known` occurrences were looked at.
  void extend_left(std::vector<Occurrence> group, size_t known, uint64_t& best) const {
    while (group.size() > best) {
      auto parts = split(group, [this](Occurrence& o) { return step_left(o.begin); });
      parts.erase(kEnd);
      if (parts.size() == 1 && parts.begin()->second.size() == known) {
        group = std::move(parts.begin()->second);
        continue;
      }
      for (auto& [symbol, part] : parts) {
        if (part.size() <= best) continue;
        bool branches = false;
        const uint64_t found = branch(part, branches);
        best = std::max(best, found);
        const size_t size = part.size();
        if (found < size && branches) extend_left(std::move(part), size, best);
      }
      return;
    }
  }

  template <typename Function>
  static std::map<uint32_t, std::vector<Occurrence>> split(std::vector<Occurrence>& group,
                                                           Function symbol_of) {
    std::map<uint32_t, std::vector<Occurrence>> parts;
    for (Occurrence& o : group) {
      const uint32_t symbol = symbol_of(o);
      parts[symbol].push_back(o);
    }
    return parts;
  }

  std::string_view text_of(size_t token) const {
    constexpr std::string_view kZero("\0", 1);
    return tokens_[token] == kNoWord ? kZero : words_[tokens_[token]];
  }
  uint32_t symbol_at(const Place& place) const {
    if (place.token == tokens_.size()) return kEnd;
    const std::string_view text = text_of(place.token);
    size_t size;
    return decode_utf8(text.data() + place.byte, text.data() + text.size(), &size);
  }
  void step_right(Place& place) const {
    const std::string_view text = text_of(place.token);
    place.byte += std::min(char_size(text[place.byte]), text.size() - place.byte);
    if (place.byte == text.size()) place = {place.token + 1, 0};
  }
  // Returns the symbol stepped over.
  uint32_t step_left(Place& place) const {
    if (place.byte == 0) {
      if (place.token == 0) return kEnd;
      --place.token;
      place.byte = text_of(place.token).size();
    }
    const std::string_view text = text_of(place.token);
    do --place.byte;
    while (is_trail(text[place.byte]));
    return symbol_at(place);
  }

  const WordTable& words_;
  PieceRule rule_;
  std::vector<uint32_t> tokens_;  // words, and kNoWord at the ends of sentences
  std::vector<std::vector<uint64_t>> totals_;
};

}  // namespace spmcompat
