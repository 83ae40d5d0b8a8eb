// Folds sentences into distinct words while they are read.
//
// Training needs of the text only its distinct words, how often each stands in
// which context (what follows it), and, where a piece may lie across words or the
// end of the text decides, the order of the sentences. A Folder holds that for
// the batches that one worker has read; nothing it holds grows with the corpus
// but four bytes a sentence.
//
// Two ways lead through it, with equal results:
// - the short way, where neighbouring words cannot influence each other (spaces
//   collapse, every sentence begins with a space mark, no rule or symbol reaches
//   across a space): a run of bytes between two spaces is looked up as it stands,
//   and normalized once, when reading ends;
// - the long way, for all other options and for lines with an irregular run: the
//   line is normalized whole and then cut into words.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "normalizer.hpp"
#include "piece_rule.hpp"
#include "run_table.hpp"
#include "string_table.hpp"
#include "utf8.hpp"

namespace spmcompat {

constexpr uint32_t kNoWord = 0xffffffffu;

// What stands behind a word: the next character of the sentence, or the end of
// the sentence and the first character of the next one, or the end of the text.
constexpr uint32_t kSentenceEnd = 0x80000000u;
constexpr uint32_t kTextEnd = 0xffffffffu;

struct Context {
  uint32_t word;
  uint32_t next;
  uint64_t count;
};

struct FoldOptions {
  bool counted = false;          // sentences come with counts other than 1
  bool whole_sentences = false;  // a sentence is one word
  bool short_way = false;
  bool ordered = true;  // whether contexts and the order of sentences are kept
  bool uniform_starts = false;  // every sentence begins with the space mark
  std::string delimiter;        // of the pre-tokenization
};

// A table of (word, next character) pairs and their counts.
class ContextTable {
 public:
  void add(uint32_t word, uint32_t next, uint64_t count) {
    if ((used_ + 1) * 3 > slots_.size() * 2) grow();
    Context& slot = probe(word, next);
    if (slot.word == kNoWord) {
      slot = {word, next, 0};
      ++used_;
    }
    slot.count += count;
  }
  template <typename Function>
  void for_each(Function function) const {
    for (const Context& slot : slots_) {
      if (slot.word != kNoWord) function(slot);
    }
  }
  // The function may change the count.
  template <typename Function>
  void for_each(Function function) {
    for (Context& slot : slots_) {
      if (slot.word != kNoWord) function(slot);
    }
  }

 private:
  Context& probe(uint32_t word, uint32_t next) {
    size_t i = mix((static_cast<uint64_t>(word) << 32) | next) & (slots_.size() - 1);
    while (slots_[i].word != kNoWord && (slots_[i].word != word || slots_[i].next != next)) {
      i = (i + 1) & (slots_.size() - 1);
    }
    return slots_[i];
  }
  void grow() {
    std::vector<Context> old(slots_.empty() ? 1024 : slots_.size() * 2, Context{kNoWord, 0, 0});
    old.swap(slots_);
    for (const Context& slot : old) {
      if (slot.word != kNoWord) probe(slot.word, slot.next) = slot;
    }
  }

  std::vector<Context> slots_;
  size_t used_ = 0;
};

// The sentences of one batch, in order, by the ids of the folder that read them.
struct BatchLog {
  uint64_t index = 0;             // of the batch in the corpus
  std::vector<uint32_t> last;     // of each sentence its last word, or kNoWord if empty
  std::vector<uint32_t> first;    // of each sentence its first character, unless all are equal
  std::vector<int64_t> count;     // of each sentence, unless all are 1
  std::vector<uint32_t> words;    // all words, if the caller asked for them
  std::vector<uint32_t> lengths;  // of each sentence in words, likewise
  uint64_t text_bytes = 0;
  uint64_t text_words = 0;
};

template <typename Function>
void for_each_word(std::string_view text, const PieceRule& rule, Function function) {
  size_t begin = 0;
  char32_t left = 0;
  for (size_t i = 0; i < text.size();) {
    char32_t right = 0;
    size_t length = 1;
    if (static_cast<unsigned char>(text[i]) >= 0x80) {
      right = decode_utf8(text.data() + i, text.data() + text.size(), &length);
    }
    if (i > 0 && rule.space_parts(left, right)) {
      function(text.substr(begin, i - begin));
      begin = i;
    }
    left = right;
    i += length;
  }
  if (begin < text.size()) function(text.substr(begin));
}

// Words are short: a call of memchr for each would cost more than the search.
inline const char* find_space(const char* at, const char* end) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  for (; end - at >= 8; at += 8) {
    const uint64_t x = load<uint64_t>(at) ^ (kOnes * ' ');
    const uint64_t zero = (x - kOnes) & ~x & (kOnes << 7);  // its lowest bit is at the first space
    if (zero != 0) return at + __builtin_ctzll(zero) / 8;
  }
  while (at < end && *at != ' ') ++at;
  return at;
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
    keep_words_ = keep_words;
  }
  BatchLog end_batch() { return std::move(log_); }

  void add_sentence(const char* text, size_t size, int64_t count) {
    if (!options_.short_way || !add_runs(text, size, count)) add_whole(text, size, count);
  }

  // Turns the runs into words; afterwards only the words are left.
  void finish();

  // Calls function(text, count) for all of the text: for words, and for runs, which may hold
  // several. Only where no order is kept: else a word does not know how often it ends a sentence.
  template <typename Function>
  void for_each_counted_text(Function function);

  const StringTable& words() const { return words_; }
  const ContextTable& contexts() const { return contexts_; }

  // The words that an id of a BatchLog stands for: a run may hold several.
  template <typename Function>
  void for_each_word_of(uint32_t id, Function function) const {
    if (!(id & kRun)) return function(id);
    id &= ~kRun;
    for (uint64_t i = run_begin_[id]; i < run_begin_[id + 1]; ++i) function(run_words_[i]);
  }
  uint32_t last_word_of(uint32_t id) const {
    return id == kNoWord || !(id & kRun) ? id : run_words_[run_begin_[(id & ~kRun) + 1] - 1];
  }

  StringTable take_words() { return std::move(words_); }
  ContextTable take_contexts() { return std::move(contexts_); }

 private:
  static constexpr std::string_view kSpaceUtf8 = "\xe2\x96\x81";
  static constexpr uint32_t kRun = 0x80000000u;

  bool add_runs(const char* text, size_t size, int64_t count);
  uint32_t add_run(const char* text, size_t size);
  bool is_irregular(std::string_view run);
  void add_whole(const char* text, size_t size, int64_t count);
  void split_text(std::string_view text);
  void replace_symbols();
  void expand_run(const Run& run);
  void record(uint32_t last, char32_t first, int64_t count, const std::vector<uint32_t>& ids);

  FoldOptions options_;
  PieceRule rule_;
  const Normalizer& normalizer_;
  const MetaPieceMatcher& meta_pieces_;

  RunTable runs_;
  std::vector<uint64_t> run_begin_;  // run -> range of run_words_, after finish()
  std::vector<uint32_t> run_words_;

  StringTable words_;
  ContextTable contexts_;

  BatchLog log_;
  bool keep_words_ = false;

  std::string text_, scratch_;  // of the sentence at hand
  std::vector<uint32_t> ids_;
  std::vector<char32_t> firsts_;
};

inline bool Folder::add_runs(const char* text, size_t size, int64_t count) {
  ids_.clear();
  const char* end = text + size;
  while (text < end) {
    const char* stop = find_space(text, end);
    if (stop > text) {
      const uint32_t id = add_run(text, stop - text);
      if (runs_[id].irregular) return false;
      ids_.push_back(id);
    }
    text = stop + 1;
  }
  if (ids_.empty()) {
    record(kNoWord, 0, count, ids_);
    return true;
  }
  const uint32_t last = ids_.back();
  for (size_t i = 0; i + 1 < ids_.size(); ++i) runs_[ids_[i]].inner += count;
  runs_[last].last += count;
  if (keep_words_) {
    for (uint32_t& id : ids_) id |= kRun;
  }
  log_.text_words += ids_.size();
  log_.text_bytes += size;
  record(last | kRun, kSpaceMark, count, ids_);
  return true;
}

inline uint32_t Folder::add_run(const char* text, size_t size) {
  const uint32_t known = runs_.size();
  const uint32_t id = runs_.add(text, size);
  if (id == known) runs_[id].irregular = is_irregular(runs_[id].view());
  return id;
}

// A run that comes to nothing leaves the end of the sentence to its neighbour; one
// that yields a space mark or two spaces together needs the line around it.
inline bool Folder::is_irregular(std::string_view run) {
  normalizer_.normalize_run(run.data(), run.size(), scratch_);
  return scratch_.empty() || scratch_.find("  ") != std::string::npos ||
         scratch_.find(kSpaceUtf8) != std::string::npos;
}

inline void Folder::add_whole(const char* text, size_t size, int64_t count) {
  normalizer_.normalize(text, size, text_);
  replace_symbols();
  ids_.clear();
  firsts_.clear();
  if (text_.empty()) {
    record(kNoWord, 0, count, ids_);
    return;
  }
  split_text(text_);
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

inline void Folder::replace_symbols() {
  meta_pieces_.replace(text_, scratch_);
  text_.swap(scratch_);
  if (options_.delimiter.empty()) return;
  scratch_.clear();
  size_t begin = 0;
  for (size_t at; (at = text_.find(options_.delimiter, begin)) != std::string::npos;) {
    scratch_.append(text_, begin, at - begin);
    scratch_.push_back(static_cast<char>(kBoundaryMark));
    begin = at + options_.delimiter.size();
  }
  scratch_.append(text_, begin, std::string::npos);
  text_.swap(scratch_);
}

inline void Folder::split_text(std::string_view text) {
  for_each_word(text, rule_, [this](std::string_view word) {
    size_t length;
    ids_.push_back(words_.add(word));
    firsts_.push_back(decode_utf8(word.data(), word.data() + word.size(), &length));
  });
}

inline void Folder::record(uint32_t last, char32_t first, int64_t count,
                           const std::vector<uint32_t>& ids) {
  if (!options_.ordered) return;
  log_.last.push_back(last);
  if (!options_.uniform_starts) log_.first.push_back(first);
  if (options_.counted) log_.count.push_back(count);
  if (keep_words_) {
    log_.words.insert(log_.words.end(), ids.begin(), ids.end());
    log_.lengths.push_back(static_cast<uint32_t>(ids.size()));
  }
}

// Writes the text of a regular run to text_.
inline void Folder::expand_run(const Run& run) {
  normalizer_.normalize_run(run.text, run.size, scratch_);
  if (scratch_.back() == ' ') scratch_.pop_back();
  text_.assign(kSpaceUtf8);
  for (const char c : scratch_) {
    if (c == ' ') {
      text_.append(kSpaceUtf8);
    } else {
      text_.push_back(c);
    }
  }
  replace_symbols();
}

template <typename Function>
void Folder::for_each_counted_text(Function function) {
  for (uint32_t run = 0; run < runs_.size(); ++run) {
    if (runs_[run].irregular) continue;
    expand_run(runs_[run]);
    function(std::string_view(text_), runs_[run].inner + runs_[run].last);
  }
  std::vector<uint64_t> totals(words_.size());
  contexts_.for_each([&](const Context& c) { totals[c.word] += c.count; });
  for (uint32_t word = 0; word < totals.size(); ++word) function(words_[word], totals[word]);
}

inline void Folder::finish() {
  runs_.drop_index();
  run_begin_.assign(1, 0);
  for (uint32_t run = 0; run < runs_.size(); ++run) {
    if (!runs_[run].irregular) {
      expand_run(runs_[run]);
      ids_.clear();
      firsts_.clear();
      split_text(text_);
      const uint64_t inner = runs_[run].inner;
      const uint64_t last = runs_[run].last;
      for (size_t i = 0; i < ids_.size(); ++i) {
        const bool ends = i + 1 == ids_.size();
        const uint64_t count = ends ? inner : inner + last;
        if (count > 0) contexts_.add(ids_[i], ends ? kSpaceMark : firsts_[i + 1], count);
      }
      if (last > 0) contexts_.add(ids_.back(), kSentenceEnd | kSpaceMark, last);
      run_words_.insert(run_words_.end(), ids_.begin(), ids_.end());
    }
    run_begin_.push_back(run_words_.size());
  }
  runs_ = RunTable();
}

}  // namespace spmcompat
