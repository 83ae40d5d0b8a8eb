// From the words of all workers to those of the corpus: what each stands before, how often
// each character stands in the text, and rare characters replaced; and the order of the
// sentences.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spmcompat/counting/counter.hpp"
#include "spmcompat/segments/segmented_corpus.hpp"
#include "spmcompat/unicode/utf8.hpp"
#include "spmcompat/counting/pretoken_table.hpp"

namespace spmcompat {

constexpr size_t kCodePoints = 0x110000;

// Which sentences stand where, after those that are empty were removed: the reference moves the
// last one into the place of each. Unless it looks again, an empty one stays that was moved.
class Places {
 public:
  Places() = default;
  template <typename IsEmpty>
  Places(uint64_t sentences, IsEmpty is_empty, bool looks_again = true) : size_(sentences) {
    for (uint64_t place = 0; place < size_; ++place) {
      uint64_t sentence = place;
      while (place < size_ && is_empty(sentence)) {
        sentence = --size_;
        if (!looks_again) break;
      }
      if (place < size_ && sentence != place) moved_.emplace_back(place, sentence);
    }
  }

  uint64_t size() const { return size_; }
  uint64_t operator[](uint64_t place) const {
    const auto found =
        std::lower_bound(moved_.begin(), moved_.end(), std::pair(place, uint64_t{0}));
    return found != moved_.end() && found->first == place ? found->second : place;
  }
  // By place: sentences from behind that stand there now.
  const std::vector<std::pair<uint64_t, uint64_t>>& moved() const { return moved_; }

 private:
  uint64_t size_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> moved_;
};

// The sentences of the corpus, in order.
struct SentenceOrder {
  std::vector<uint32_t> last;        // of each its last word, or kNoWord if it is empty
  std::vector<uint32_t> first;       // of each its first character, unless all are equal
  std::vector<int64_t> count;        // of each, unless all are 1
  std::vector<uint32_t> words;       // of all, if they were kept
  std::vector<uint64_t> word_begin;  // sentence -> range of words
  std::vector<std::pair<uint64_t, int64_t>> empty;  // places and counts of those that stay, though

  // The folder must be finished.
  void append(BatchLog log, const Folder& folder, bool with_words) {
    for (const uint32_t id : log.last) last.push_back(folder.last_word_of(id));
    first.insert(first.end(), log.first.begin(), log.first.end());
    count.insert(count.end(), log.count.begin(), log.count.end());
    if (!with_words) return;
    if (word_begin.empty()) word_begin.push_back(0);
    size_t at = 0;
    for (const uint32_t length : log.lengths) {
      for (const size_t end = at + length; at < end; ++at) {
        folder.for_each_word_of(log.words[at], [&](uint32_t word) { words.push_back(word); });
      }
      word_begin.push_back(words.size());
    }
  }

  void remove_empty(bool looks_again) {
    const auto is_empty = [this](uint64_t i) { return last[i] == kNoWord; };
    const Places places(last.size(), is_empty, looks_again);
    if (places.size() == last.size()) return;
    if (!word_begin.empty()) select_words(places);
    select(last, places);
    select(first, places);
    select(count, places);
    if (!looks_again) set_empty_apart();
  }

  // Takes out the sentences that are empty, and notes their places.
  void set_empty_apart() {
    std::vector<uint32_t> kept;
    for (uint32_t place = 0; place < last.size(); ++place) {
      if (last[place] == kNoWord) {
        empty.emplace_back(place, count.empty() ? 1 : count[place]);
      } else {
        kept.push_back(place);
      }
    }
    if (!empty.empty()) arrange(kept);
  }

  // Puts the sentences `place` in the place of all.
  void arrange(const std::vector<uint32_t>& place) {
    if (!word_begin.empty()) select_words(place);
    select(last, place);
    select(first, place);
    select(count, place);
  }

  // Calls sentence(i) for each of the sentences that are not empty, and empty_one(count) for each
  // that is, as they stand.
  template <typename Sentence, typename Empty>
  void for_each(Sentence sentence, Empty empty_one) const {
    auto next = empty.begin();
    uint32_t place = 0;
    for (size_t i = 0; i < last.size() || next != empty.end(); ++place) {
      if (next != empty.end() && next->first == place) {
        empty_one(next++->second);
      } else {
        sentence(i++);
      }
    }
  }

 private:
  template <typename Values>
  static void select(Values& values, const Places& places) {
    if (values.empty()) return;
    for (const auto& [place, sentence] : places.moved()) values[place] = values[sentence];
    values.resize(places.size());
  }
  template <typename Values>
  static void select(Values& values, const std::vector<uint32_t>& place) {
    if (values.empty()) return;
    Values kept(place.size());
    for (size_t i = 0; i < place.size(); ++i) kept[i] = values[place[i]];
    values.swap(kept);
  }
  template <typename Sentences>
  void select_words(const Sentences& places) {
    std::vector<uint32_t> kept;
    std::vector<uint64_t> begin(1, 0);
    for (uint64_t place = 0; place < places.size(); ++place) {
      const uint64_t i = places[place];
      kept.insert(kept.end(), words.begin() + word_begin[i], words.begin() + word_begin[i + 1]);
      begin.push_back(kept.size());
    }
    words.swap(kept);
    word_begin.swap(begin);
  }
};

// Finds the sentence that ends a text once empty ones were removed as Places does it, where their
// order decides nothing else. It stands behind as many others as are not empty, or behind more; so
// what stands before it may be forgotten while the text is read.
class TextEnding {
 public:
  // Takes the sentences of a batch, in the order of the text.
  void add(const BatchLog& log, uint32_t folder) {
    sentences_ += log.filled;
    gaps_ += log.sentences - log.filled;
    for (const uint32_t id : log.last) {
      open_.push_back({folder, id});
      gaps_ -= id == kNoWord;
    }
  }

  // Those that are not empty.
  uint64_t sentences() const { return sentences_; }

  // Finds it, if there is any: the folder that read it and the id of its last word there.
  void find() {
    for (; gaps_ > 0; open_.pop_back()) gaps_ -= open_.back().id != kNoWord;
    const auto is_empty = [this](uint64_t i) { return open_[i].id == kNoWord; };
    const Places places(open_.size(), is_empty);
    last_ = open_[places[places.size() - 1]];
  }
  uint32_t folder() const { return last_.folder; }
  uint32_t id() const { return last_.id; }

 private:
  struct Sentence {
    uint32_t folder;
    uint32_t id;  // of its last word, or kNoWord
  };

  uint64_t sentences_ = 0;
  uint64_t gaps_ = 0;           // empty ones among those that were forgotten
  std::vector<Sentence> open_;  // the others
  Sentence last_{0, kNoWord};
};

class CharacterCounts {
 public:
  void add(char32_t c, uint64_t count) {
    if (c < kBasicPlane) {
      basic_[c] += count;
    } else {
      others_[c] += count;
    }
  }
  void add(const CharacterCounts& other) {
    for (char32_t c = 0; c < kBasicPlane; ++c) basic_[c] += other.basic_[c];
    for (const auto& [c, count] : other.others_) others_[c] += count;
  }
  uint64_t nuls() const { return basic_[0]; }
  // Those that were counted, but NUL.
  std::vector<std::pair<char32_t, uint64_t>> counted() const {
    std::vector<std::pair<char32_t, uint64_t>> result;
    for (char32_t c = 1; c < kBasicPlane; ++c) {
      if (basic_[c] > 0) result.emplace_back(c, basic_[c]);
    }
    for (const auto& [c, count] : others_) {
      if (count > 0) result.emplace_back(c, count);
    }
    return result;
  }

 private:
  static constexpr char32_t kBasicPlane = 0x10000;
  std::vector<uint64_t> basic_ = std::vector<uint64_t>(kBasicPlane);
  std::map<char32_t, uint64_t> others_;
};

class WordCounts {
 public:
  // Workers share the work by shards, of which there are 2^shard_bits.
  explicit WordCounts(unsigned shard_bits) : words_(shard_bits), changes_(words_.shards()) {}

  WordTable& words() { return words_; }
  const WordTable& words() const { return words_; }

  // Notes what stands behind the ends of sentences, as their order tells. With uniform starts
  // every end was counted while reading, as if a sentence followed.
  void close_sentences(const SentenceOrder& order, bool uniform_starts) {
    const size_t size = order.last.size();
    for (size_t i = 0; i + 1 < size && !uniform_starts; ++i) {
      words_.count(order.last[i], kSentenceEnd | order.first[i + 1], 1);
    }
    if (size > 0) close_text(order.last[size - 1], uniform_starts);
  }
  // The same with uniform starts, where the text ends with this word.
  void close_sentences(std::string_view last) { close_text(words_.add(last, {}), true); }

  // Adds how often each character stands in the words of a shard.
  void count_characters(uint32_t shard, CharacterCounts& counts) const {
    const std::vector<uint64_t> totals = words_.totals(shard);
    for (uint32_t place = 0; place < totals.size(); ++place) {
      for_each_character(words_[words_.id(shard, place)],
                         [&](char32_t c) { counts.add(c, totals[place]); });
    }
  }

  // The size of the text, with one more byte at the end of each sentence. Counts of a TSV
  // may go beyond any integer; up to 2^53 a double is exact.
  double text_bytes() const {
    double bytes = 0;
    const auto add = [&](uint32_t word, uint64_t count, int ends) {
      bytes += static_cast<double>(count) * static_cast<double>(words_[word].size() + ends);
    };
    for (uint32_t shard = 0; shard < words_.shards(); ++shard) {
      for (uint32_t place = 0; place < words_.size(shard); ++place) {
        const uint32_t word = words_.id(shard, place);
        add(word, words_.use(word).inner, 0);
        add(word, words_.use(word).last, 1);
      }
      words_.for_each_context(
          shard, [&](const Context& c) { add(c.word, c.count, c.next >= kSentenceEnd); });
    }
    return bytes;
  }

  // Whether the text changes where characters that are not required become the unknown mark;
  // if so, `covered` is the changed text.
  static bool cover_text(std::string_view text, const std::vector<bool>& required,
                         std::string& covered) {
    bool changed = false;
    for_each_character(text, [&](char32_t c) { changed |= !required[c]; });
    if (!changed) return false;
    covered.clear();
    for_each_character(text, [&](char32_t c) {
      append_utf8(required[c] ? c : kUnknownMark, covered);
    });
    return true;
  }

  // All characters but those required become the unknown mark, in two rounds over all shards,
  // find_changes and change; then finish_changes is called, with the order if it is needed.
  void require(const std::vector<char32_t>& alphabet) {
    required_.assign(kCodePoints, false);
    for (const char32_t c : alphabet) required_[c] = true;
  }
  void find_changes(uint32_t shard) {
    std::string text;
    for (uint32_t place = 0; place < words_.size(shard); ++place) {
      const uint32_t word = words_.id(shard, place);
      if (cover_text(words_[word], required_, text)) changes_[shard].push_back({word, text, 0});
    }
  }
  void change(uint32_t shard) {
    for (Change& change : changes_[shard]) {
      WordUse use;
      words_.update(change.word, [&](WordUse& given) { std::swap(given, use); });
      change.covered = words_.add(change.text, use);
      change.text = std::string();
    }
  }
  void finish_changes(SentenceOrder* order) {
    if (order != nullptr) {
      for (uint32_t& word : order->last) word = covered(word);
      for (uint32_t& word : order->words) word = covered(word);
    }
    std::vector<Context> moved;
    for (uint32_t shard = 0; shard < words_.shards(); ++shard) {
      words_.for_each_context(shard, [&](Context& c) {
        const Context after{covered(c.word), covered_next(c.next), c.count};
        if (after.word == c.word && after.next == c.next) return;
        moved.push_back(after);
        c.count = 0;
      });
    }
    for (const Context& c : moved) words_.count(c.word, c.next, c.count);
    std::vector<std::vector<Change>>().swap(changes_);
  }

  // Adds every sentence as one word to `joined`, from the words of each sentence.
  void join_sentences(SentenceOrder& order, bool uniform_starts, WordCounts& joined) const {
    std::string text;
    for (size_t i = 0; i < order.last.size(); ++i) {
      text.clear();
      for (uint64_t k = order.word_begin[i]; k < order.word_begin[i + 1]; ++k) {
        text.append(words_[order.words[k]]);
      }
      order.last[i] = joined.words_.add(text, {});
      const uint64_t count = order.count.empty() ? 1 : order.count[i];
      const uint32_t first = uniform_starts ? uint32_t(kSpaceMark) : order.first[i];
      const uint64_t closed = uniform_starts ? count : count - 1;
      if (closed > 0) joined.words_.count(order.last[i], kSentenceEnd | first, closed);
    }
    order.words.clear();
    order.word_begin.clear();
  }

 private:
  void close_text(uint32_t last, bool uniform_starts) {
    if (uniform_starts) words_.count(last, kSentenceEnd | kSpaceMark, uint64_t(-1));
    words_.count(last, kTextEnd, 1);
  }

  struct Change {
    uint32_t word;
    std::string text;  // until it is added
    uint32_t covered;  // the word that it becomes
  };

  uint32_t covered(uint32_t word) const {
    const std::vector<Change>& changes = changes_[words_.shard_of(word)];
    const auto found = std::lower_bound(
        changes.begin(), changes.end(), word,
        [](const Change& change, uint32_t value) { return change.word < value; });
    return found != changes.end() && found->word == word ? found->covered : word;
  }
  uint32_t covered_next(uint32_t next) const {
    if (next == kTextEnd) return next;
    const uint32_t c = next & ~kSentenceEnd;
    return (next & kSentenceEnd) | (required_[c] ? c : uint32_t(kUnknownMark));
  }

  WordTable words_;
  std::vector<bool> required_;
  std::vector<std::vector<Change>> changes_;  // by shard, ascending
};

}  // namespace spmcompat
