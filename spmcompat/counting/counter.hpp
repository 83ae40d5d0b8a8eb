// Counts pretokens while sentences are read.
//
// Training needs only the distinct pretokens of the text, and the count of each in each context.
// The context is the character that follows the pretoken. Training also needs the order of the
// sentences if a piece may cross pretokens, or if the end of the text matters. A Counter collects
// these data for the batches that one worker reads. Its memory grows with the number of distinct
// pretokens, not with the text. If the order of the sentences is kept, each sentence takes at least
// four more bytes.
//
// A sentence is counted in one of two ways. Both give the same counts:
// - By raw tokens, if neighbouring raw tokens cannot influence each other: spaces collapse, every
//   sentence begins with a space mark, and no normalization rule, meta piece or delimiter contains
//   a space. Each raw token is looked up in a table without being normalized. A new raw token is
//   normalized at once to find its RawTokenKind, and again after the text is read if normalization
//   changes it.
// - As a whole, for all other plans and for sentences with an irregular raw token: the sentence is
//   normalized and then cut into pretokens.
// If a Python function pre-tokenizes, it is called after a sentence is normalized and before it is
// cut: the function receives the normalized sentence, and returns it with boundary marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/batch.hpp"
#include "spmcompat/counting/raw_tokens.hpp"
#include "spmcompat/counting/sentence_normalizer.hpp"
#include "spmcompat/counting/worker_table.hpp"
#include "spmcompat/plan.hpp"
#include "spmcompat/pretokenization/cuts.hpp"
#include "spmcompat/text/lines.hpp"
#include "spmcompat/text/sampling.hpp"
#include "spmcompat/unicode/marks.hpp"

namespace spmcompat {

// The rule by which a counter cuts sentences into pretokens. If the plan counts whole sentences,
// they are not cut at white space.
inline PieceRule counting_rule(const Plan& plan) {
  PieceRule rule(plan.cutting);
  rule.split_by_whitespace &= !plan.counting.whole_sentences;
  return rule;
}

// Counts the sentences with properties that users rarely expect.
struct Surprises {
  uint64_t blank = 0;      // sentences that normalize to nothing
  uint64_t nul = 0;        // sentences that contain a NUL
  uint64_t malformed = 0;  // sentences that are not well-formed UTF-8
};

class Counter {
 public:
  Counter(const Plan& plan, const SentenceNormalizer& normalizer)
      : plan_(plan.counting),
        rule_(counting_rule(plan)),
        normalizer_(normalizer),
        table_(rule_, normalizer) {}

  // Counts only the sentences in `selection`, unless it is null.
  void begin_batch(uint64_t index, bool keep_pretokens, const BatchSelection* selection) {
    log_ = BatchLog();
    log_.index = index;
    keep_pretokens_ = keep_pretokens;
    selection_ = selection;
    sentence_ = selected_ = 0;
    first_nul_ = first_malformed_ = nullptr;
  }
  // The surprises in all batches so far, and the first sentence of the current batch that contains
  // a NUL or is malformed, or null.
  const Surprises& surprises() const { return surprises_; }
  const char* first_nul() const { return first_nul_; }
  const char* first_malformed() const { return first_malformed_; }
  BatchLog end_batch() {
    add_waiting();
    log_.shrink_to_fit();
    return std::move(log_);
  }

  // The text must stay in memory until the end of the batch.
  void add_sentence(const char* text, size_t size, int64_t count) {
    if (selection_ != nullptr && !selects_next(count)) return;
    if (plan_.copies > 0) count = plan_.copies;
    if (!plan_.by_raw_tokens) return add_whole(text, size, count);
    split_raw_tokens(text, size, count);
    if (tokens_.size() >= kWaiting) add_waiting();
  }

  // Used if a Python function pre-tokenizes: returns the normalized sentences of the batch so far.
  // The caller inserts boundary marks into them, and passes the sentences to add_marked before the
  // batch ends.
  CountedTexts take_normalized() { return std::exchange(normalized_, CountedTexts()); }
  void add_marked(const CountedTexts& sentences) {
    for (const auto& [sentence, count] : sentences) {
      normalizer_.take_marked(sentence, text_);
      add_text(count);
    }
  }

  // The table with the counts. It is complete after the last call of end_batch.
  WorkerTable& table() { return table_; }
  const WorkerTable& table() const { return table_; }

 private:
  static constexpr size_t kWaiting = 64;  // number of raw tokens to collect before counting them
  static constexpr size_t kStretch = 1 << 14;  // bytes; longer sentences are looked up in parts
  static constexpr const char* kReplacementUtf8 = "\xef\xbf\xbd";
  static constexpr size_t kAhead = 6;  // the prefetch distance in raw tokens

  // A sentence whose raw tokens are not counted yet.
  struct Waiting {
    const char* text;
    size_t size;
    int64_t count;
    size_t end;  // the end of the sentence's raw tokens in token_ids_
  };

  // Returns whether the next sentence of the batch is selected. If it is the last one of a seeding
  // chunk, sets its count.
  bool selects_next(int64_t& count) {
    const size_t sentence = sentence_++;
    if (sentence >= selection_->chosen.size() || !selection_->chosen[sentence]) return false;
    if (selected_++ == selection_->last) count = selection_->last_count;
    return true;
  }

  // Splits a sentence into raw tokens, and prefetches their slots in the table. By the time the
  // tokens are looked up, the slots are in the CPU cache.
  void split_raw_tokens(const char* text, size_t size, int64_t count) {
    const char* at = text;
    for (size_t left = size; left > kStretch; left = text + size - at) {
      const char* stop = find_space(at + kStretch, text + size);
      split_raw_tokens(at, stop);
      look_up_tokens();
      at = stop;
    }
    split_raw_tokens(at, text + size);
    waiting_.push_back({text, size, count, token_ids_.size() + tokens_.size()});
  }
  void split_raw_tokens(const char* begin, const char* end) {
    for_each_raw_token(begin, end, [this](const RawToken& token) {
      tokens_.push_back(token);
      table_.raw_tokens.prefetch_slot(token);
    });
  }

  void look_up_tokens() {
    RawTokenTable& table = table_.raw_tokens;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (i + kAhead < tokens_.size()) table.prefetch_entry(tokens_[i + kAhead]);
      const uint32_t id = add_raw_token(tokens_[i]);
      if (table.irregular(id)) irregular_.push_back(token_ids_.size());
      token_ids_.push_back(id);
    }
    tokens_.clear();
  }

  void add_waiting() {
    look_up_tokens();
    size_t begin = 0;
    auto irregular = irregular_.begin();
    for (const Waiting& sentence : waiting_) {
      if (irregular == irregular_.end() || *irregular >= sentence.end) {
        add_raw_tokens(sentence, begin);
      } else {
        add_whole(sentence.text, sentence.size, sentence.count);
        while (irregular != irregular_.end() && *irregular < sentence.end) ++irregular;
      }
      begin = sentence.end;
    }
    waiting_.clear();
    token_ids_.clear();
    irregular_.clear();
  }

  void add_raw_tokens(const Waiting& sentence, size_t begin) {
    RawTokenTable& table = table_.raw_tokens;
    uint32_t* const ids = token_ids_.data() + begin;
    const size_t size = sentence.end - begin;
    if (size == 0) {
      ++surprises_.blank;
      return record(kNoPretoken, 0, sentence.count, ids, 0);
    }
    const uint32_t last = ids[size - 1];
    if (rule_.boundaries_end_pretokens) {  // every raw token is followed by a boundary
      for (size_t i = 0; i < size; ++i) table.count_last(ids[i], sentence.count);
    } else {
      for (size_t i = 0; i + 1 < size; ++i) table.count_inner(ids[i], sentence.count);
      table.count_last(last, sentence.count);
    }
    if (keep_pretokens_) {
      for (size_t i = 0; i < size; ++i) ids[i] |= WorkerTable::kRawToken;
    }
    log_.text_pretokens += size;
    log_.text_bytes += sentence.size;
    record(last | WorkerTable::kRawToken, kSpaceMark, sentence.count, ids, size);
  }

  uint32_t add_raw_token(const RawToken& token) {
    const uint32_t known = table_.raw_tokens.size();
    const uint32_t id = table_.raw_tokens.add(token);
    if (id == known) note_kind(id, token);
    return id;
  }
  // Not inlined, because it is rarely called, and the loop over raw tokens is faster without it.
  [[gnu::noinline]] void note_kind(uint32_t id, const RawToken& token) {
    const std::string_view text(token.text, token.size);
    table_.raw_tokens.set_kind(id, normalizer_.kind_of(text, scratch_));
  }

  void add_whole(const char* sentence, size_t size, int64_t count) {
    normalizer_.normalize(sentence, size, text_, scratch_);
    note_damage({sentence, size});
    if (plan_.calls_pretokenizer) {
      normalized_.emplace_back(text_, count);
      return;
    }
    add_text(count);
  }

  // Normalization replaces malformed bytes with U+FFFD. Searching for U+FFFD is faster than
  // checking whether the sentence is well-formed, so the sentence is checked only if U+FFFD was
  // found.
  void note_damage(std::string_view sentence) {
    if (SentenceNormalizer::contains_nul(sentence)) {
      ++surprises_.nul;
      if (first_nul_ == nullptr) first_nul_ = sentence.data();
    }
    if (text_.find(kReplacementUtf8) != std::string::npos && !is_utf8(sentence)) {
      ++surprises_.malformed;
      if (first_malformed_ == nullptr) first_malformed_ = sentence.data();
    }
  }

  // Counts the pretokens of text_.
  void add_text(int64_t count) {
    ids_.clear();
    nexts_.clear();
    for_each_pretoken(text_, rule_, [this](std::string_view pretoken, bool opens) {
      ids_.push_back(table_.pretokens.add(pretoken));
      nexts_.push_back(next_of_pretoken_before(pretoken, opens, rule_));
    });
    if (ids_.empty()) {
      ++surprises_.blank;
      return record(kNoPretoken, 0, count, nullptr, 0);
    }
    ContextTable& contexts = table_.contexts;
    if (!plan_.keeps_contexts) {
      for (const uint32_t id : ids_) contexts.add(id, 0, count);
      return;
    }
    for (size_t i = 0; i + 1 < ids_.size(); ++i) contexts.add(ids_[i], nexts_[i + 1], count);
    if (plan_.uniform_starts) {
      contexts.add(ids_.back(), kSentenceEnd | kSpaceMark, count);
    } else if (count > 1) {
      contexts.add(ids_.back(), nexts_[0], count - 1);
    }
    log_.text_pretokens += ids_.size();
    log_.text_bytes += text_.size();
    record(ids_.back(), nexts_[0] & ~kSentenceEnd, count, ids_.data(), ids_.size());
  }

  void record(uint32_t last, char32_t first, int64_t count, const uint32_t* ids, size_t size) {
    if (!plan_.keeps_contexts) return;
    ++log_.sentences;
    log_.filled += last != kNoPretoken;
    log_.last.push_back(last);
    if (!plan_.uniform_starts) log_.first.push_back(first);
    if (plan_.tsv) log_.count.push_back(count);
    if (keep_pretokens_) {
      log_.pretokens.insert(log_.pretokens.end(), ids, ids + size);
      log_.lengths.push_back(static_cast<uint32_t>(size));
    }
  }

  CountingPlan plan_;
  PieceRule rule_;
  const SentenceNormalizer& normalizer_;
  WorkerTable table_;

  std::vector<Waiting> waiting_;
  std::vector<uint32_t> token_ids_;  // the ids of those raw tokens of waiting_ that were looked up
  std::vector<size_t> irregular_;    // the indices of irregular raw tokens in token_ids_
  std::vector<RawToken> tokens_;     // the raw tokens of waiting_ that must still be looked up
  CountedTexts normalized_;

  BatchLog log_;
  Surprises surprises_;
  const char *first_nul_ = nullptr, *first_malformed_ = nullptr;
  bool keep_pretokens_ = false;
  const BatchSelection* selection_ = nullptr;
  size_t sentence_ = 0,
         selected_ = 0;  // the numbers of sentences so far, in the batch and selected

  std::string text_, scratch_;  // the current sentence, and temporary memory
  std::vector<uint32_t> ids_;
  std::vector<char32_t> nexts_;  // for each pretoken, the context of the pretoken before it
};

inline void count_lines(LineFilter& filter, const BufferText& buffer, Counter& counter) {
  filter.for_each_sentence(buffer, [&](const char* sentence, size_t size, int64_t count) {
    counter.add_sentence(sentence, size, count);
    return true;
  });
}

inline void count_sample(const ReservoirSample& sample, size_t first, size_t last,
                         Counter& counter) {
  for (size_t i = first; i < last; ++i) {
    counter.add_sentence(sample[i].first.data(), sample[i].first.size(), sample[i].second);
  }
}

}  // namespace spmcompat
