// The sentences of one batch: the log that a counter writes, and the selection of the sentences
// that are counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "spmcompat/counting/pretoken_table.hpp"

namespace spmcompat {

using CountedTexts = std::vector<std::pair<std::string, int64_t>>;

// The sentences of a batch, in order. Ids with the bit WorkerTable::kRawToken refer to the raw
// tokens of the counter that read the batch; the other ids refer to its pretokens.
struct BatchLog {
  uint64_t index = 0;  // the position of the batch in the text
  uint64_t sentences = 0;
  uint64_t filled = 0;              // non-empty sentences
  std::vector<uint32_t> last;       // each sentence's last pretoken; kNoPretoken if it has none
  std::vector<uint32_t> first;      // each sentence's first character, unless all are equal
  std::vector<int64_t> count;       // each sentence's count; empty if the text has no counts
  std::vector<uint32_t> pretokens;  // the pretokens of all sentences, if they are kept
  std::vector<uint32_t> lengths;    // each sentence's number of pretokens, if they are kept
  uint64_t text_bytes = 0;
  uint64_t text_pretokens = 0;  // number of pretokens (raw tokens if the plan counts those)

  void drop_pretokens() {
    std::vector<uint32_t>().swap(pretokens);
    std::vector<uint32_t>().swap(lengths);
  }
  // Drops each sentence's last pretoken and count. The number of sentences stays known. Must not be
  // called if the plan keeps the order of the sentences.
  void drop_sentences() {
    std::vector<uint32_t>().swap(last);
    std::vector<int64_t>().swap(count);
  }
  // A text has millions of sentences, so unused capacity could double the memory of the logs.
  void shrink_to_fit() {
    last.shrink_to_fit();
    first.shrink_to_fit();
    count.shrink_to_fit();
  }
};

// The sentences of a batch that are counted as part of a seeding chunk. The last sentence of the
// chunk gets the count `last_count`, because the chunk may end between the copies of this sentence.
struct BatchSelection {
  std::vector<bool> chosen;  // whether each sentence of the batch is counted
  size_t last;               // the chunk's last sentence, as an index into the chosen sentences
  int64_t last_count;
};

}  // namespace spmcompat
