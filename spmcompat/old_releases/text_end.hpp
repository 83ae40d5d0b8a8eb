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
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/sentence_order.hpp"
#include "spmcompat/old_releases/following_texts.hpp"
#include "spmcompat/old_releases/seed_counts.hpp"
#include "spmcompat/old_releases/token_text.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

class TextEndSeeds {
 public:
  // Each sentence occurs `copies` times in a row. Throws Cancelled if `cancel` is set.
  TextEndSeeds(const PretokenTable& pretokens, const PieceRule& rule, const SentenceOrder& order,
               int copies, const CancelFlag& cancel)
      : pretokens_(pretokens), rule_(rule), cancel_(cancel), text_(pretokens) {
    const auto add = [&](size_t sentence) {
      cancel_.check();
      for (int copy = 0; copy < copies; ++copy) text_.add_sentence(order, sentence);
    };
    order.for_each(add, [&](int64_t) { text_.add_empty_sentences(copies); });
    for (uint32_t shard = 0; shard < pretokens.shards(); ++shard) {
      totals_.push_back(pretokens.totals(shard));
    }
  }

  // Returns the pieces whose counts change, with their new counts.
  SeedCounts counts() const {
    SeedCounts found;
    if (text_.size() == 0) return found;
    std::vector<SentenceEnd> ends = sentence_ends();
    size_t longest = 0;
    for (size_t i = 0; i + 1 < ends.size(); ++i) longest = std::max(longest, ends[i].matching);
    std::unordered_set<uint32_t> seen;
    // The suffix of the text that begins at `last` must occur once more.
    for (size_t last = text_.size() - 1; last > 0 && text_.size() - last <= longest; --last) {
      cancel_.check();
      const uint32_t pretoken = text_[last - 1];
      // The loop goes backwards, so it considers each pretoken at its last occurrence in the text.
      if (pretoken == kNoPretoken || !seen.insert(pretoken).second) continue;
      const size_t size = text_.size() - last;
      ends.erase(std::remove_if(ends.begin(), ends.end(),
                                [&](const SentenceEnd& end) { return end.matching < size; }),
                 ends.end());
      add_suffixes(pretoken, ends, size, found);
    }
    return found;
  }

 private:
  using Position = TokenText::Position;

  // The end of a sentence: its token, and the number of tokens up to and including it that are
  // equal to the last tokens of the text.
  struct SentenceEnd {
    size_t token;
    size_t matching;
  };
  // Where an occurrence of a piece begins, and its number in FollowingTexts.
  struct Occurrence {
    Position begin;
    uint32_t number;
  };

  // Returns the ends of all sentences. Compares each token only once, like the Z algorithm
  // (Gusfield, 1997): inside a part that is known to match the end of the text, the ends of
  // sentences match as those at the end of the text do.
  std::vector<SentenceEnd> sentence_ends() const {
    std::vector<SentenceEnd> ends;
    for (size_t token = 0; token < text_.size(); ++token) {
      if (text_[token] == kNoPretoken) ends.push_back({token, text_.size()});
    }
    const size_t last = text_.size() - 1;
    size_t window = ends.size() - 1;     // the end of the sentence whose match begins furthest left
    size_t window_begin = text_.size();  // where that match begins
    for (size_t i = ends.size() - 1; i-- > 0;) {
      cancel_.check();
      const size_t token = ends[i].token;
      size_t matching = 0;
      if (token >= window_begin) {
        matching =
            std::min(ends[ends.size() - 1 - (window - i)].matching, token + 1 - window_begin);
      }
      while (matching <= token && text_[last - matching] == text_[token - matching]) ++matching;
      ends[i].matching = matching;
      if (token + 1 - matching < window_begin) {
        window = i;
        window_begin = token + 1 - matching;
      }
    }
    return ends;
  }

  // Considers the pieces that are suffixes of a pretoken, the longest first. Stops at the first
  // suffix with an occurrence that is not followed by the last `size` tokens of the text, because
  // all shorter suffixes have such an occurrence, too. `ends` are the ends of those tokens.
  void add_suffixes(uint32_t pretoken, const std::vector<SentenceEnd>& ends, size_t size,
                    SeedCounts& found) const {
    std::vector<char32_t> characters;
    std::vector<size_t> begins;
    const std::string_view text = pretokens_[pretoken];
    for (size_t i = 0; i < text.size();) {
      size_t length;
      begins.push_back(i);
      characters.push_back(decode_utf8(text.data() + i, text.data() + text.size(), &length));
      i += length;
    }
    std::optional<FollowingTexts> following;
    FollowingTexts::Nodes nodes;
    size_t known = 0;  // the number of texts in `following`
    for (size_t i = 0; i + 1 < begins.size(); ++i) {
      const std::string_view piece = text.substr(begins[i]);
      if (!rule_.allows(characters.data() + i, characters.size() - i)) continue;
      const std::vector<Occurrence> occurrences = before(ends, size, piece);
      if (occurrences.size() < 2) continue;
      if (count(piece) != occurrences.size()) return;
      // A suffix occurs wherever a longer one does. So an equal number means equal occurrences.
      if (occurrences.size() != known) {
        known = occurrences.size();
        following.emplace(text_, tokens_after(occurrences, size), cancel_);
        nodes = following->nodes(numbers(occurrences));
      }
      found.emplace(piece, best_count(occurrences, *following, nodes));
    }
  }

  // Returns the occurrences of a piece before the last `size` tokens of the text, and before equal
  // tokens elsewhere.
  std::vector<Occurrence> before(const std::vector<SentenceEnd>& ends, size_t size,
                                 std::string_view piece) const {
    std::vector<Occurrence> result;
    for (const SentenceEnd& end : ends) {
      if (end.token < size || text_[end.token - size] == kNoPretoken) continue;
      const size_t token = end.token - size;
      const std::string_view text = text_.text_of(token);
      if (text.size() < piece.size() || text.substr(text.size() - piece.size()) != piece) continue;
      const auto number = static_cast<uint32_t>(result.size());
      result.push_back({{token, text.size() - piece.size()}, number});
    }
    return result;
  }

  static std::vector<size_t> tokens_after(const std::vector<Occurrence>& occurrences, size_t size) {
    std::vector<size_t> tokens;
    for (const Occurrence& o : occurrences) tokens.push_back(o.begin.token + 1 + size);
    return tokens;
  }
  static std::vector<uint32_t> numbers(const std::vector<Occurrence>& occurrences) {
    std::vector<uint32_t> result;
    for (const Occurrence& o : occurrences) result.push_back(o.number);
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

  // Returns the highest count of a node whose text contains the piece. `nodes` are the nodes whose
  // texts begin with the piece.
  uint64_t best_count(const std::vector<Occurrence>& occurrences, const FollowingTexts& following,
                      const FollowingTexts::Nodes& nodes) const {
    if (!nodes.branches) return 0;
    std::vector<Occurrence> whole;
    for (const Occurrence& o : occurrences) {
      if (o.begin.byte == 0) whole.push_back(o);
    }
    uint64_t best = nodes.best;
    extend_left(std::move(whole), occurrences.size(), following, best);
    return best;
  }

  // Searches for nodes whose texts begin further left than the piece and whose counts are above
  // `best`, and raises `best` to the highest of these counts. `known` is the size of the last group
  // of occurrences whose nodes are known.
  void extend_left(std::vector<Occurrence> group, size_t known, const FollowingTexts& following,
                   uint64_t& best) const {
    while (group.size() > best) {
      cancel_.check();
      if (group.size() == known && pass_equal_token(group)) continue;
      auto parts = split_by_left_character(group);
      if (parts.size() == 1 && parts.begin()->second.size() == known) {
        group = std::move(parts.begin()->second);
        continue;
      }
      for (auto& [character, part] : parts) {
        if (part.size() <= best) continue;
        const FollowingTexts::Nodes nodes = following.nodes(numbers(part));
        best = std::max(best, nodes.best);
        const size_t size = part.size();
        if (nodes.best < size && nodes.branches) {
          extend_left(std::move(part), size, following, best);
        }
      }
      return;
    }
  }

  // Moves all occurrences to the left of the token before them, if this token is the same.
  bool pass_equal_token(std::vector<Occurrence>& group) const {
    const Position first = group.front().begin;
    for (const Occurrence& o : group) {
      if (o.begin.byte != 0 || o.begin.token == 0) return false;
      if (text_[o.begin.token - 1] != text_[first.token - 1]) return false;
    }
    for (Occurrence& o : group) --o.begin.token;
    return true;
  }

  // Leaves out the occurrences at the beginning of the text.
  std::map<uint32_t, std::vector<Occurrence>> split_by_left_character(
      std::vector<Occurrence>& group) const {
    std::map<uint32_t, std::vector<Occurrence>> parts;
    for (Occurrence& o : group) {
      const uint32_t character = text_.step_left(o.begin);
      if (character != TokenText::kEnd) parts[character].push_back(o);
    }
    return parts;
  }

  const PretokenTable& pretokens_;
  PieceRule rule_;
  const CancelFlag& cancel_;
  TokenText text_;
  std::vector<std::vector<uint64_t>> totals_;
};

}  // namespace spmcompat
