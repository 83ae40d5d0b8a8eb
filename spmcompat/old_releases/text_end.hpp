// Finds the seeds whose counts depend on the end of the text.
//
// Release 0.2.2 finds seeds by cutting the texts of the nodes of a suffix tree into pieces
// (seed_tree.hpp). It drops the nodes that end at the end of the text.
//
// If the same characters follow all occurrences of a piece, the piece itself is not a node. It is
// cut from a longer node, and gets the count of that node. The text of this node begins with the
// piece, and ends where the texts after the occurrences first differ. But if one of these texts
// reaches the end of the whole text before it differs from the others, the node is dropped. Then
// the piece gets the count of the most frequent of the even longer nodes, each of which covers only
// some of the occurrences. These longer nodes extend into the next sentences and, where the piece
// is a whole pretoken, also into the text before it.
//
// This file treats the text as a sequence of pretokens and ends of sentences. The counts of only a
// few pieces change, and most of these pieces occur once or twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/old_releases/seed_counts.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class TextEndSeeds {
 public:
  // Each sentence occurs `copies` times in a row. Throws Cancelled if `cancel` is set.
  TextEndSeeds(const PretokenTable& pretokens, const PieceRule& rule, const SentenceOrder& order,
               int copies, const CancelFlag& cancel)
      : pretokens_(pretokens), rule_(rule), cancel_(cancel) {
    const auto add = [&](size_t sentence) {
      cancel_.check();
      for (int copy = 0; copy < copies; ++copy) add_sentence(order, sentence);
    };
    const auto add_empty = [&](int64_t) { tokens_.insert(tokens_.end(), copies, kNoPretoken); };
    order.for_each(add, add_empty);
    for (uint32_t shard = 0; shard < pretokens.shards(); ++shard) {
      totals_.push_back(pretokens.totals(shard));
    }
  }

  // Returns the pieces whose counts change, with their new counts.
  SeedCounts counts() const {
    SeedCounts found;
    if (tokens_.empty()) return found;
    std::unordered_set<uint32_t> seen;
    // The positions at which the suffix of tokens_ that begins at `last` occurs in tokens_.
    std::vector<size_t> positions;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i] == kNoPretoken) positions.push_back(i);
    }
    for (size_t last = tokens_.size() - 1; last > 0 && positions.size() > 1; --last) {
      cancel_.check();
      const uint32_t pretoken = tokens_[last - 1];
      // The loop goes backwards, so it considers each pretoken at its last occurrence in the text.
      if (pretoken != kNoPretoken && seen.insert(pretoken).second) {
        add_suffixes(pretoken, positions, found);
      }
      std::vector<size_t> before;
      for (const size_t position : positions) {
        if (position > 0 && tokens_[position - 1] == pretoken) before.push_back(position - 1);
      }
      positions.swap(before);
    }
    return found;
  }

 private:
  static constexpr uint32_t kEnd = 0xffffffffu;  // a character that no text contains

  struct Position {
    size_t token;
    size_t byte;
  };
  // Where an occurrence of a piece begins and ends.
  struct Occurrence {
    Position begin, end;
  };

  void add_sentence(const SentenceOrder& order, size_t sentence) {
    if (!order.begin.empty()) {
      tokens_.insert(tokens_.end(), order.pretokens.begin() + order.begin[sentence],
                     order.pretokens.begin() + order.begin[sentence + 1]);
    } else {
      tokens_.push_back(order.last[sentence]);
    }
    tokens_.push_back(kNoPretoken);
  }

  // Considers the pieces that are suffixes of a pretoken, the longest first. Stops at the first
  // suffix with an occurrence that does not end at one of the `positions`, because all shorter
  // suffixes have such an occurrence, too.
  void add_suffixes(uint32_t pretoken, const std::vector<size_t>& positions,
                    SeedCounts& found) const {
    std::vector<char32_t> characters;
    std::vector<size_t> begins;
    const std::string_view text = pretokens_[pretoken];
    for (size_t i = 0; i < text.size();) {
      size_t size;
      begins.push_back(i);
      characters.push_back(decode_utf8(text.data() + i, text.data() + text.size(), &size));
      i += size;
    }
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      const std::string_view piece = text.substr(begins[i]);
      if (!rule_.allows(characters.data() + i, characters.size() - i)) continue;
      const std::vector<Occurrence> occurrences = before(positions, piece);
      if (occurrences.size() < 2) continue;
      if (count(piece) != occurrences.size()) return;
      found.emplace(piece, best_count(occurrences));
    }
  }

  std::vector<Occurrence> before(const std::vector<size_t>& positions,
                                 std::string_view piece) const {
    std::vector<Occurrence> result;
    for (const size_t position : positions) {
      if (position == 0 || tokens_[position - 1] == kNoPretoken) continue;
      const std::string_view text = pretokens_[tokens_[position - 1]];
      if (text.size() < piece.size() || text.substr(text.size() - piece.size()) != piece) continue;
      result.push_back({{position - 1, text.size() - piece.size()}, {position, 0}});
    }
    return result;
  }

  // How often a piece occurs in the text.
  uint64_t count(std::string_view piece) const {
    uint64_t count = 0;
    for (uint32_t shard = 0; shard < pretokens_.shards(); ++shard) {
      for (uint32_t i = 0; i < totals_[shard].size(); ++i) {
        if (totals_[shard][i] == 0) continue;
        const std::string_view text = pretokens_[pretokens_.id(shard, i)];
        for (size_t at = 0; (at = text.find(piece, at)) != std::string_view::npos; ++at) {
          count += totals_[shard][i];
        }
      }
    }
    return count;
  }

  uint64_t best_count(const std::vector<Occurrence>& occurrences) const {
    bool branches = false;
    uint64_t best = branch(occurrences, branches);
    // If the texts after the occurrences never differ, extend_left() would find no node, either.
    // Returning here avoids a long search if the text ends with a long repetition.
    if (!branches) return 0;
    std::vector<Occurrence> whole;
    for (const Occurrence& o : occurrences) {
      if (o.begin.byte == 0) whole.push_back(o);
    }
    extend_left(std::move(whole), occurrences.size(), best);
    return best;
  }

  // Extends occurrences of the same text to the right, and returns the highest count of a node that
  // begins with this text, or 0 if there is no such node. Sets `branches` if two occurrences are
  // followed by different texts. Two texts do not count as different if one of them is merely
  // shorter, because the whole text ends there.
  uint64_t branch(std::vector<Occurrence> group, bool& branches) const {
    while (group.size() > 1) {
      // The last occurrence reaches the end of the text before all other occurrences.
      if (character_at(group.back().end) == kEnd) {
        group.pop_back();
        const auto parts = split(group, [this](Occurrence& o) { return character_at(o.end); });
        if (parts.size() == 1) continue;
        branches = true;
        uint64_t best = 0;
        for (const auto& [character, part] : parts) best = std::max(best, branch(part, branches));
        return best;
      }
      const uint32_t character = character_at(group.front().end);
      for (const Occurrence& o : group) {
        if (character_at(o.end) == character) continue;
        branches = true;
        return group.size();
      }
      for (Occurrence& o : group) step_right(o.end);
    }
    return 0;
  }

  // Searches for nodes whose texts begin further left than the piece and whose counts are above
  // `best`, and raises `best` to the highest of these counts. `known` is the size of the last group
  // of occurrences that was passed to branch().
  void extend_left(std::vector<Occurrence> group, size_t known, uint64_t& best) const {
    while (group.size() > best) {
      auto parts = split(group, [this](Occurrence& o) { return step_left(o.begin); });
      parts.erase(kEnd);
      if (parts.size() == 1 && parts.begin()->second.size() == known) {
        group = std::move(parts.begin()->second);
        continue;
      }
      for (auto& [character, part] : parts) {
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
                                                           Function character_of) {
    std::map<uint32_t, std::vector<Occurrence>> parts;
    for (Occurrence& o : group) {
      const uint32_t character = character_of(o);
      parts[character].push_back(o);
    }
    return parts;
  }

  std::string_view text_of(size_t token) const {
    constexpr std::string_view kZero("\0", 1);
    return tokens_[token] == kNoPretoken ? kZero : pretokens_[tokens_[token]];
  }
  uint32_t character_at(const Position& position) const {
    if (position.token == tokens_.size()) return kEnd;
    const std::string_view text = text_of(position.token);
    size_t size;
    return decode_utf8(text.data() + position.byte, text.data() + text.size(), &size);
  }
  void step_right(Position& position) const {
    const std::string_view text = text_of(position.token);
    position.byte += std::min(char_size(text[position.byte]), text.size() - position.byte);
    if (position.byte == text.size()) position = {position.token + 1, 0};
  }
  // Moves one character to the left, and returns that character.
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

  const PretokenTable& pretokens_;
  PieceRule rule_;
  const CancelFlag& cancel_;
  std::vector<uint32_t> tokens_;  // pretokens, and kNoPretoken at the ends of sentences
  std::vector<std::vector<uint64_t>> totals_;
};

}  // namespace spmcompat
