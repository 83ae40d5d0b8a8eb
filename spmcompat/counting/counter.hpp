// Folds sentences into distinct words while they are read.
//
// Training needs of the text only its distinct words, how often each stands in
// which context (what follows it), and, where a piece may lie across words or the
// end of the text decides, the order of the sentences. A Folder holds that for
// the batches that one worker has read; nothing it holds grows with the corpus
// but four bytes a sentence, where the order is kept.
//
// Two ways lead through it, with equal results:
// - the short way, where neighbouring words cannot influence each other (spaces
//   collapse, every sentence begins with a space mark, no rule or symbol reaches
//   across a space): a run of bytes between two spaces is looked up as it stands,
//   and normalized once, when reading ends;
// - the long way, for all other options and for lines with an irregular run: the
//   line is normalized whole and then cut into words.
// Where somebody else pre-tokenizes, the long way stops between the two: normalized
// sentences wait until they come back with boundary marks in them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/normalization/normalizer.hpp"
#include "spmcompat/pretokenization/piece_rule.hpp"
#include "spmcompat/counting/raw_token_table.hpp"
#include "spmcompat/pretokenization/script_runs.hpp"
#include "spmcompat/containers/string_table.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/counting/pretoken_table.hpp"

namespace spmcompat {

struct FoldOptions {
  bool counted = false;          // sentences come with counts other than 1
  bool whole_sentences = false;  // a sentence is one word
  bool short_way = false;
  int copies = 0;                // of each sentence, whatever its count, unless 0
  bool pretokenized = false;     // sentences wait to be pre-tokenized
  bool spare_marks = false;      // of boundary marks only those are kept that are needed
  bool ordered = true;          // whether contexts and the order of sentences are kept
  bool uniform_starts = false;  // every sentence begins with the space mark, or is read so
  std::string delimiter;        // of the pre-tokenization
  const ScriptRuns* script_runs = nullptr;  // if these are the pre-tokens
};

// Texts with their counts, one behind the other.
class CountedTexts {
 public:
  void add(std::string_view text, int64_t count) {
    texts_.append(text);
    ends_.push_back(texts_.size());
    counts_.push_back(count);
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i > 0 ? ends_[i - 1] : 0;
    return std::string_view(texts_).substr(begin, ends_[i] - begin);
  }
  int64_t count(size_t i) const { return counts_[i]; }

 private:
  std::string texts_;
  std::vector<size_t> ends_;
  std::vector<int64_t> counts_;
};

// The sentences of one batch, in order, by the ids of the folder that read them.
struct BatchLog {
  uint64_t index = 0;             // of the batch in the corpus
  uint64_t sentences = 0;
  uint64_t filled = 0;            // sentences that are not empty
  std::vector<uint32_t> last;     // of each sentence its last word, or kNoWord if empty
  std::vector<uint32_t> first;    // of each sentence its first character, unless all are equal
  std::vector<int64_t> count;     // of each sentence, unless all are 1
  std::vector<uint32_t> words;    // all words, if the caller asked for them
  std::vector<uint32_t> lengths;  // of each sentence in words, likewise
  uint64_t text_bytes = 0;
  uint64_t text_words = 0;

  void drop_words() {
    std::vector<uint32_t>().swap(words);
    std::vector<uint32_t>().swap(lengths);
  }
  // Forgets all sentences but their numbers, where their order is not kept.
  void forget() {
    std::vector<uint32_t>().swap(last);
    std::vector<int64_t>().swap(count);
  }
  // Likewise, but for one.
  void forget_others(size_t sentence) {
    const uint32_t kept = last.at(sentence);
    forget();
    last.push_back(kept);
  }
  // A text is millions of sentences: what is reserved for more of them would be as much again.
  void shrink_to_fit() {
    last.shrink_to_fit();
    first.shrink_to_fit();
    count.shrink_to_fit();
  }
};

// A space that stands apart is no word.
template <typename Function>
void for_each_word(std::string_view text, const PieceRule& rule, Function function) {
  const auto add = [&](std::string_view word) {
    if (!rule.spaces_apart || word != kSpaceUtf8) function(word);
  };
  size_t begin = 0;
  char32_t left = 0;
  for (size_t i = 0; i < text.size();) {
    char32_t right = 0;
    size_t length = 1;
    if (static_cast<unsigned char>(text[i]) >= 0x80) {
      right = decode_utf8(text.data() + i, text.data() + text.size(), &length);
    }
    if (i > 0 && rule.space_parts(left, right)) {
      add(text.substr(begin, i - begin));
      begin = i;
    }
    left = right;
    i += length;
  }
  if (begin < text.size()) add(text.substr(begin));
}

// Words are short: a call of memchr for each would cost more than the search. Returns a number
// whose lowest bit set lies in the first byte that is a space.
inline uint64_t spaces_in(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  const uint64_t x = bytes ^ (kOnes * ' ');
  return (x - kOnes) & ~x & (kOnes << 7);
}

inline const char* find_space(const char* at, const char* end) {
  for (; end - at >= 8; at += 8) {
    if (const uint64_t spaces = spaces_in(load<uint64_t>(at))) {
      return at + __builtin_ctzll(spaces) / 8;
    }
  }
  while (at < end && *at != ' ') ++at;
  return at;
}

// Calls function(token) for every run between spaces.
template <typename Function>
void for_each_run(const char* at, const char* end, Function function) {
  // Most runs and the space behind them lie within eight bytes.
  while (end - at >= 8) {
    const uint64_t bytes = load<uint64_t>(at);
    const uint64_t spaces = spaces_in(bytes);
    if (spaces == 0) {
      const char* stop = find_space(at + 8, end);
      function(RunToken(at, stop - at));
      at = stop + 1;
    } else {
      const uint32_t size = __builtin_ctzll(spaces) / 8;
      if (size > 0) function(RunToken(at, size, bytes & ((uint64_t{1} << 8 * size) - 1)));
      at += size + 1;
    }
  }
  while (at < end) {
    const char* stop = find_space(at, end);
    if (stop > at) function(RunToken(at, stop - at));
    at = stop + 1;
  }
}

class Folder {
 public:
  Folder(const FoldOptions& options, const PieceRule& rule, const Normalizer& normalizer,
         const MetaPieceMatcher& meta_pieces)
      : options_(options), rule_(rule), normalizer_(normalizer), meta_pieces_(meta_pieces) {
    rule_.split_by_whitespace = rule.split_by_whitespace && !options.whole_sentences;
  }

  void begin_batch(uint64_t index, bool keep_words) {
    log_ = BatchLog();
    log_.index = index;
    tokens_.clear();
    waiting_.clear();
    keep_words_ = keep_words;
  }
  BatchLog end_batch() {
    add_waiting();
    log_.shrink_to_fit();
    return std::move(log_);
  }

  // The text must last until the end of the batch.
  void add_sentence(const char* text, size_t size, int64_t count) {
    if (options_.copies > 0) count = options_.copies;
    if (!options_.short_way) return add_whole(text, size, count);
    split_runs(text, size, count);
    if (tokens_.size() >= kWaiting) add_waiting();
  }

  // The sentences of the batch so far, if they wait to be pre-tokenized. They are to be added
  // again, with boundary marks, before the batch ends.
  CountedTexts take_normalized() { return std::exchange(normalized_, CountedTexts()); }
  void add_pretokenized(const CountedTexts& sentences) {
    for (size_t i = 0; i < sentences.size(); ++i) {
      text_.clear();
      for_each_character(sentences[i], [this](char32_t c) { append_utf8(c, text_); });
      if (options_.spare_marks) spare_marks();
      add_text(sentences.count(i));
    }
  }

  // Puts all words into a table, which folders share; afterwards only their ids there are left, and
  // these only if they are asked for.
  void finish(WordTable& table, bool keep_ids);

  // The word that a sentence of a BatchLog ends with, before finish().
  std::string last_word(uint32_t id);

  // Calls function(text, count) for all of the text: for words, and for runs, which may hold
  // several. Only where no order is kept: else a word does not know how often it ends a sentence.
  template <typename Function>
  void for_each_counted_text(Function function);

  // The same, once: afterwards nothing is left.
  template <typename Function>
  void consume_counted_text(Function function);

  // The words in that table that an id of a BatchLog stands for: a run may hold several.
  template <typename Function>
  void for_each_word_of(uint32_t id, Function function) const {
    if (!(id & kRun)) return function(word_ids_[id]);
    id &= ~kRun;
    for (uint32_t i = id > 0 ? run_end_[id - 1] : 0; i < run_end_[id]; ++i) function(run_words_[i]);
  }
  uint32_t last_word_of(uint32_t id) const {
    if (id == kNoWord) return id;
    return id & kRun ? run_words_[run_end_[id & ~kRun] - 1] : word_ids_[id];
  }

 private:
  static constexpr uint32_t kRun = 0x80000000u;
  static constexpr size_t kBatchBytes = 1 << 17;
  static constexpr size_t kWaiting = 64;  // runs that are looked up together
  static constexpr size_t kAhead = 6;     // runs whose entries are fetched while others are read

  // A sentence whose runs are not looked up yet.
  struct Waiting {
    const char* text;
    size_t size;
    int64_t count;
    size_t end;  // of its runs in tokens_
  };

  void split_runs(const char* text, size_t size, int64_t count);
  void add_waiting();
  bool add_runs(const Waiting& sentence, size_t begin);
  uint32_t add_run(const RunToken& token);
  bool is_irregular(std::string_view run);
  void add_whole(const char* text, size_t size, int64_t count);
  void add_text(int64_t count);
  void split_text(std::string_view text);
  char32_t first_of(std::string_view word) const;
  void mark_boundaries();
  void replace_delimiters();
  void spare_marks();
  void run_text(std::string_view run);
  template <typename Function>
  void call_for_run(std::string_view run, uint64_t count, Function function);
  template <typename Function>
  void for_each_counted_word(Function function) const;
  void add_run_words(std::string_view text, const WordUse& use, WordTable& table,
                     SharedBatch<WordUse>& batch);
  void record(uint32_t last, char32_t first, int64_t count, const std::vector<uint32_t>& ids);

  FoldOptions options_;
  PieceRule rule_;
  const Normalizer& normalizer_;
  const MetaPieceMatcher& meta_pieces_;

  RunTable runs_;
  std::vector<RunToken> tokens_;
  std::vector<Waiting> waiting_;
  StringTable words_;
  ContextTable contexts_;

  // After finish(): ids of words in the table.
  std::vector<uint32_t> word_ids_;   // of each word
  std::vector<uint32_t> run_words_;  // of all runs
  std::vector<uint32_t> run_end_;    // of each run in run_words_

  BatchLog log_;
  bool keep_words_ = false;
  CountedTexts normalized_;

  std::string text_, scratch_;  // of the sentence at hand
  std::vector<uint32_t> ids_;
  std::vector<char32_t> firsts_;
};

// Where the table has a run is fetched from memory while others are looked up.
inline void Folder::split_runs(const char* text, size_t size, int64_t count) {
  for_each_run(text, text + size, [this](const RunToken& token) {
    tokens_.push_back(token);
    runs_.prefetch_slot(token);
  });
  waiting_.push_back({text, size, count, tokens_.size()});
}

inline void Folder::add_waiting() {
  size_t begin = 0;
  for (const Waiting& sentence : waiting_) {
    if (!add_runs(sentence, begin)) add_whole(sentence.text, sentence.size, sentence.count);
    begin = sentence.end;
  }
  tokens_.clear();
  waiting_.clear();
}

inline bool Folder::add_runs(const Waiting& sentence, size_t begin) {
  ids_.clear();
  for (size_t i = begin; i < sentence.end; ++i) {
    if (i + kAhead < tokens_.size()) runs_.prefetch_entry(tokens_[i + kAhead]);
    const uint32_t id = add_run(tokens_[i]);
    if (runs_.irregular(id)) return false;
    ids_.push_back(id);
  }
  if (ids_.empty()) {
    record(kNoWord, 0, sentence.count, ids_);
    return true;
  }
  const uint32_t last = ids_.back();
  for (size_t i = 0; i + 1 < ids_.size(); ++i) runs_.count_inner(ids_[i], sentence.count);
  runs_.count_last(last, sentence.count);
  if (keep_words_) {
    for (uint32_t& id : ids_) id |= kRun;
  }
  log_.text_words += ids_.size();
  log_.text_bytes += sentence.size;
  record(last | kRun, kSpaceMark, sentence.count, ids_);
  return true;
}

inline uint32_t Folder::add_run(const RunToken& token) {
  const uint32_t known = runs_.size();
  const uint32_t id = runs_.add(token);
  if (id == known && is_irregular(std::string_view(token.text, token.size))) {
    runs_.set_irregular(id);
  }
  return id;
}

// A run that comes to nothing leaves the end of the sentence to its neighbour; one
// that yields a space mark or two spaces together needs the line around it, as does one
// that may share a pre-token with its neighbours.
inline bool Folder::is_irregular(std::string_view run) {
  normalizer_.normalize_run(run.data(), run.size(), scratch_);
  return scratch_.empty() || scratch_.find("  ") != std::string::npos ||
         scratch_.find(kSpaceUtf8) != std::string::npos ||
         (options_.script_runs != nullptr && options_.script_runs->reaches_out(scratch_));
}

inline void Folder::add_whole(const char* text, size_t size, int64_t count) {
  normalizer_.normalize(text, size, text_);
  mark_boundaries();
  if (options_.pretokenized) return normalized_.add(text_, count);
  add_text(count);
}

// The text is that of text_.
inline void Folder::add_text(int64_t count) {
  ids_.clear();
  firsts_.clear();
  split_text(text_);
  if (ids_.empty()) {
    record(kNoWord, 0, count, ids_);
    return;
  }
  if (!options_.ordered) {
    for (const uint32_t id : ids_) contexts_.add(id, 0, count);
    return;
  }
  for (size_t i = 0; i + 1 < ids_.size(); ++i) contexts_.add(ids_[i], firsts_[i + 1], count);
  if (options_.uniform_starts) {
    contexts_.add(ids_.back(), kSentenceEnd | kSpaceMark, count);
  } else if (count > 1) {
    contexts_.add(ids_.back(), kSentenceEnd | firsts_[0], count - 1);
  }
  log_.text_words += ids_.size();
  log_.text_bytes += text_.size();
  record(ids_.back(), firsts_[0], count, ids_);
}

inline void Folder::mark_boundaries() {
  meta_pieces_.replace(text_, scratch_);
  text_.swap(scratch_);
  if (!options_.delimiter.empty()) replace_delimiters();
  if (options_.script_runs != nullptr) {
    options_.script_runs->mark(text_, rule_.boundary, scratch_);
    text_.swap(scratch_);
    spare_marks();
  }
}

inline void Folder::replace_delimiters() {
  scratch_.clear();
  size_t begin = 0;
  for (size_t at; (at = text_.find(options_.delimiter, begin)) != std::string::npos;) {
    scratch_.append(text_, begin, at - begin);
    scratch_.push_back(static_cast<char>(rule_.boundary));
    begin = at + options_.delimiter.size();
  }
  scratch_.append(text_, begin, std::string::npos);
  text_.swap(scratch_);
}

inline void Folder::spare_marks() {
  spare_boundaries(text_, rule_, scratch_);
  text_.swap(scratch_);
}

inline void Folder::split_text(std::string_view text) {
  for_each_word(text, rule_, [this](std::string_view word) {
    ids_.push_back(words_.add(word));
    firsts_.push_back(first_of(word));
  });
}

// What stands behind the word before it.
inline char32_t Folder::first_of(std::string_view word) const {
  size_t length;
  return rule_.spaces_apart ? kSpaceMark
                            : decode_utf8(word.data(), word.data() + word.size(), &length);
}

inline void Folder::record(uint32_t last, char32_t first, int64_t count,
                           const std::vector<uint32_t>& ids) {
  if (!options_.ordered) return;
  ++log_.sentences;
  log_.filled += last != kNoWord;
  log_.last.push_back(last);
  if (!options_.uniform_starts) log_.first.push_back(first);
  if (options_.counted) log_.count.push_back(count);
  if (keep_words_) {
    log_.words.insert(log_.words.end(), ids.begin(), ids.end());
    log_.lengths.push_back(static_cast<uint32_t>(ids.size()));
  }
}

inline std::string Folder::last_word(uint32_t id) {
  if (!(id & kRun)) return std::string(words_[id]);
  run_text(runs_.text(id & ~kRun));
  std::string_view last;
  for_each_word(text_, rule_, [&](std::string_view word) { last = word; });
  return std::string(last);
}

inline void Folder::finish(WordTable& table, bool keep_ids) {
  for (uint32_t id = 0; id < words_.size(); ++id) word_ids_.push_back(table.add(words_[id], {}));
  contexts_.for_each([&](const Context& c) { table.count(word_ids_[c.word], c.next, c.count); });
  words_ = StringTable();
  contexts_ = ContextTable();

  SharedBatch<WordUse> batch(table);
  std::string texts;  // of the batch
  texts.reserve(kBatchBytes);
  if (keep_ids) run_end_.reserve(runs_.size());
  runs_.consume([&](std::string_view run, uint64_t inner, uint64_t last, bool irregular) {
    if (!irregular) {
      run_text(run);
      if (texts.size() + text_.size() > kBatchBytes || batch.full()) {
        batch.flush(run_words_);
        texts.clear();
        if (!keep_ids) run_words_.clear();
      }
      if (text_.size() > kBatchBytes) texts.reserve(text_.size());
      texts.append(text_);
      add_run_words(std::string_view(texts).substr(texts.size() - text_.size()), {inner, last},
                    table, batch);
    }
    if (keep_ids) run_end_.push_back(run_words_.size());
  });
  batch.flush(run_words_);
  if (keep_ids) return;
  std::vector<uint32_t>().swap(run_words_);
  std::vector<uint32_t>().swap(word_ids_);
}

// Leaves the text of the run's words in text_.
inline void Folder::run_text(std::string_view run) {
  normalizer_.normalize_run(run.data(), run.size(), scratch_);
  if (scratch_.back() == ' ') scratch_.pop_back();
  text_.assign(kSpaceUtf8);
  if (scratch_.find(' ') == std::string::npos) {
    text_.append(scratch_);
  } else {
    for (const char c : scratch_) {
      if (c == ' ') {
        text_.append(kSpaceUtf8);
      } else {
        text_.push_back(c);
      }
    }
  }
  mark_boundaries();
}

template <typename Function>
void Folder::for_each_counted_text(Function function) {
  runs_.for_each([&](std::string_view run, uint64_t inner, uint64_t last, bool) {
    call_for_run(run, inner + last, function);
  });
  for_each_counted_word(function);
}

template <typename Function>
void Folder::consume_counted_text(Function function) {
  runs_.consume([&](std::string_view run, uint64_t inner, uint64_t last, bool) {
    call_for_run(run, inner + last, function);
  });
  for_each_counted_word(function);
  words_ = StringTable();
  contexts_ = ContextTable();
}

// An irregular run is never counted.
template <typename Function>
void Folder::call_for_run(std::string_view run, uint64_t count, Function function) {
  if (count == 0) return;
  run_text(run);
  function(std::string_view(text_), count);
}

template <typename Function>
void Folder::for_each_counted_word(Function function) const {
  std::vector<uint64_t> totals(words_.size());
  contexts_.for_each([&](const Context& c) { totals[c.word] += c.count; });
  for (uint32_t word = 0; word < totals.size(); ++word) function(words_[word], totals[word]);
}

// The words of the run's text, with what stands behind each.
inline void Folder::add_run_words(std::string_view text, const WordUse& use, WordTable& table,
                                  SharedBatch<WordUse>& batch) {
  std::string_view before;
  for_each_word(text, rule_, [&](std::string_view word) {
    if (!before.empty()) {
      const uint64_t count = use.inner + use.last;
      run_words_.push_back(table.add(before, {}));
      if (count > 0) table.count(run_words_.back(), first_of(word), count);
    }
    before = word;
  });
  batch.add(before, use, run_words_.size());
  run_words_.push_back(kNoWord);
}

}  // namespace spmcompat
