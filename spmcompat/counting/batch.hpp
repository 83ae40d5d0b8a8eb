// What a worker notes about the sentences of one batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"

namespace spmcompat {

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

// The sentences of a batch, in order. Ids are those of the counter that read them.
struct BatchLog {
  uint64_t index = 0;                // of the batch in the text
  uint64_t sentences = 0;
  uint64_t filled = 0;               // sentences that are not empty
  std::vector<uint32_t> last;        // of each sentence its last pretoken, or kNoPretoken if empty
  std::vector<uint32_t> first;       // of each its first character, unless all are equal
  std::vector<int64_t> count;        // of each, unless all are 1
  std::vector<uint32_t> pretokens;   // of all sentences, if they are kept
  std::vector<uint32_t> lengths;     // of each sentence in pretokens, likewise
  uint64_t text_bytes = 0;
  uint64_t text_pretokens = 0;       // raw tokens, where these are counted

  void drop_pretokens() {
    std::vector<uint32_t>().swap(pretokens);
    std::vector<uint32_t>().swap(lengths);
  }
  // Keeps only how many sentences there are. The order of the sentences must not matter.
  void drop_sentences() {
    std::vector<uint32_t>().swap(last);
    std::vector<int64_t>().swap(count);
  }
  void drop_all_sentences_but(size_t sentence) {
    const uint32_t kept = last.at(sentence);
    drop_sentences();
    last.push_back(kept);
  }
  // There are millions of sentences: unused capacity would take as much memory again.
  void shrink_to_fit() {
    last.shrink_to_fit();
    first.shrink_to_fit();
    count.shrink_to_fit();
  }
};

// Which sentences of a batch are counted, if not all are.
struct BatchSelection {
  std::vector<bool> chosen;  // by index in the batch
  size_t last;               // index among the chosen ones of the sentence that counts `last_count`
  int64_t last_count;
};

}  // namespace spmcompat
