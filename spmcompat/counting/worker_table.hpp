// The tables of one worker: the raw tokens, the pretokens of sentences that were counted as a
// whole, and the contexts of these pretokens.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/containers/string_table.hpp"
#include "spmcompat/counting/pretoken_table.hpp"
#include "spmcompat/counting/raw_token_table.hpp"
#include "spmcompat/counting/sentence_normalizer.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/runtime/cancel.hpp"
#include "spmcompat/unicode/marks.hpp"
#include "spmcompat/unicode/utf8.hpp"

namespace spmcompat {

// Returns the context of the pretoken that comes before `pretoken`. `opens` is the argument that
// for_each_pretoken passes to its function. A boundary mark that ends a pretoken counts as the end
// of a sentence.
inline char32_t next_of_pretoken_before(std::string_view pretoken, bool opens,
                                        const PieceRule& rule) {
  size_t length;
  const char32_t first =
      rule.spaces_apart ? kSpaceMark
                        : decode_utf8(pretoken.data(), pretoken.data() + pretoken.size(), &length);
  return opens ? kSentenceEnd | first : first;
}

class WorkerTable {
 public:
  // The bit that distinguishes ids of raw tokens from those of pretokens. A raw token may contain
  // several pretokens.
  static constexpr uint32_t kRawToken = 0x80000000u;

  WorkerTable(const PieceRule& rule, const SentenceNormalizer& normalizer)
      : rule_(rule), normalizer_(normalizer) {}

  RawTokenTable raw_tokens;
  StringTable pretokens;
  ContextTable contexts;

  // The memory that the tables take.
  size_t bytes() const { return raw_tokens.bytes() + pretokens.bytes() + contexts.bytes(); }

  // Returns the last pretoken of a sentence. `id` is the sentence's item in BatchLog::last. Must be
  // called before merging.
  std::string last_pretoken(uint32_t id) {
    if (!(id & kRawToken)) return std::string(pretokens[id]);
    std::string_view last;
    for_each_pretoken_of(id & ~kRawToken, [&](std::string_view pretoken) { last = pretoken; });
    return std::string(last);
  }

  // Calls function(pretoken) for each pretoken of a raw token. Irregular raw tokens have none. Must
  // be called before merging.
  template <typename Function>
  void for_each_pretoken_of(uint32_t raw_token, Function function) {
    const CountedRawToken token = raw_tokens.counted(raw_token);
    if (token.kind == RawTokenKind::kIrregular) return;
    normalize(token);
    for_each_pretoken(text_, rule_, [&](std::string_view pretoken, bool) { function(pretoken); });
  }

  // Returns the pretoken that is smallest in byte order among those that end a sentence, or an
  // empty string if all sentences are empty. `ids` is BatchLog::last.
  std::string least_last_pretoken(std::vector<uint32_t> ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    std::string least;
    for (const uint32_t id : ids) {
      if (id == kNoPretoken) continue;
      std::string last = last_pretoken(id);
      if (least.empty() || last < least) least.swap(last);
    }
    return least;
  }

  // Calls function(text, count) for every counted pretoken and every raw token. The plan must not
  // keep contexts: if it does, the last pretokens of sentences may be counted only after the tables
  // are merged, so some counts could be too small here.
  template <typename Function>
  void for_each_text(Function function) {
    raw_tokens.for_each([&](const CountedRawToken& token) { call_for_raw_token(token, function); });
    for_each_counted_pretoken(function);
  }

  // Like for_each_text, but frees all texts and counts.
  template <typename Function>
  void consume_texts(Function function) {
    raw_tokens.consume([&](const CountedRawToken& token) { call_for_raw_token(token, function); });
    for_each_counted_pretoken(function);
    drop_pretokens();
  }

  // Moves all pretokens to `table`, which the workers share. With `keep_ids`, also stores the id
  // that each pretoken has in `table`. Throws Cancelled if `cancel` is set.
  void merge_into(PretokenTable& table, bool keep_ids, const CancelFlag& cancel) {
    for (uint32_t id = 0; id < pretokens.size(); ++id) {
      cancel.check();
      merged_ids_.push_back(table.add(pretokens[id], {}));
    }
    contexts.for_each([&](const ContextCount& c) {
      cancel.check();
      table.count(merged_ids_[c.pretoken], c.next, c.count);
    });
    drop_pretokens();

    SharedTableBuffer<PretokenUse> buffer(table);
    std::string texts;  // the texts of the pretokens in the buffer
    texts.reserve(kBufferBytes);
    if (keep_ids) raw_token_end_.reserve(raw_tokens.size());
    raw_tokens.consume([&](const CountedRawToken& token) {
      if (token.kind != RawTokenKind::kIrregular) {
        normalize(token);
        if (texts.size() + text_.size() > kBufferBytes || buffer.full()) {
          cancel.check();
          buffer.flush(raw_token_pretokens_);
          texts.clear();
          if (!keep_ids) raw_token_pretokens_.clear();
        }
        if (text_.size() > kBufferBytes) texts.reserve(text_.size());
        texts.append(text_);
        const std::string_view text = texts;
        merge_raw_token(text.substr(texts.size() - text_.size()), {token.inner, token.last}, table,
                        buffer);
      }
      if (keep_ids) raw_token_end_.push_back(raw_token_pretokens_.size());
    });
    buffer.flush(raw_token_pretokens_);
    if (keep_ids) return;
    std::vector<uint32_t>().swap(raw_token_pretokens_);
    std::vector<uint32_t>().swap(merged_ids_);
  }

  // Converts an id of a BatchLog to ids in the merged table. For the id of a pretoken, calls
  // function(merged id) once; for the id of a raw token, once for each of its pretokens.
  template <typename Function>
  void for_each_merged(uint32_t id, Function function) const {
    if (!(id & kRawToken)) return function(merged_ids_[id]);
    id &= ~kRawToken;
    for (uint32_t i = id > 0 ? raw_token_end_[id - 1] : 0; i < raw_token_end_[id]; ++i) {
      function(raw_token_pretokens_[i]);
    }
  }
  uint32_t last_merged(uint32_t id) const {
    if (id == kNoPretoken) return id;
    return id & kRawToken ? raw_token_pretokens_[raw_token_end_[id & ~kRawToken] - 1]
                          : merged_ids_[id];
  }

 private:
  static constexpr size_t kBufferBytes = 1 << 17;

  // Writes the raw token to text_.
  void normalize(const CountedRawToken& token) {
    normalizer_.normalize_raw_token(token.text, token.kind, text_, scratch_);
  }

  // Calls function(normalized text, count) for one raw token. Does nothing if the count is 0.
  // Irregular raw tokens always have the count 0.
  template <typename Function>
  void call_for_raw_token(const CountedRawToken& token, Function function) {
    const uint64_t count = token.inner + token.last;
    if (count == 0) return;
    normalize(token);
    function(std::string_view(text_), count);
  }

  template <typename Function>
  void for_each_counted_pretoken(Function function) const {
    std::vector<uint64_t> totals(pretokens.size());
    contexts.for_each([&](const ContextCount& c) { totals[c.pretoken] += c.count; });
    for (uint32_t id = 0; id < totals.size(); ++id) function(pretokens[id], totals[id]);
  }

  // Adds the pretokens of a normalized raw token, and counts their contexts.
  void merge_raw_token(std::string_view text, const PretokenUse& use, PretokenTable& table,
                       SharedTableBuffer<PretokenUse>& buffer) {
    std::string_view before;
    for_each_pretoken(text, rule_, [&](std::string_view pretoken, bool opens) {
      if (!before.empty()) {
        const uint64_t count = use.inner + use.last;
        raw_token_pretokens_.push_back(table.add(before, {}));
        if (count > 0) {
          table.count(raw_token_pretokens_.back(), next_of_pretoken_before(pretoken, opens, rule_),
                      count);
        }
      }
      before = pretoken;
    });
    buffer.add(before, use, raw_token_pretokens_.size());
    raw_token_pretokens_.push_back(kNoPretoken);
  }

  void drop_pretokens() {
    pretokens = StringTable();
    contexts = ContextTable();
  }

  PieceRule rule_;
  const SentenceNormalizer& normalizer_;

  // Ids in the merged table.
  std::vector<uint32_t> merged_ids_;           // the merged id of each item of `pretokens`
  std::vector<uint32_t> raw_token_pretokens_;  // the pretokens of all raw tokens
  // For each raw token, the position in raw_token_pretokens_ at which its pretokens end.
  std::vector<uint32_t> raw_token_end_;

  std::string text_, scratch_;
};

}  // namespace spmcompat
