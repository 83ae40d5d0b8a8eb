// The fields of a plan that C++ code reads. plan.py documents them; a test compares the names in
// both files.
#pragma once

#include <cstddef>
#include <string>

namespace spmcompat {

struct Plan {
  // How the normalizer treats white space.
  bool add_dummy_prefix;
  bool remove_extra_whitespaces;
  bool treat_whitespace_as_suffix;

  // Which pieces are valid: their maximum length, and the positions that they must not cross.
  size_t max_piece_length;
  bool split_by_unicode_script;
  bool split_by_number;
  bool split_by_whitespace;
  bool split_digits;
  bool whitespace_as_suffix;
  bool allow_whitespace_only_pieces;
  bool spaces_apart;
  char32_t boundary;

  // `tsv` and `copies`: how often each sentence counts. The others: where boundary marks cut it.
  bool tsv;
  int copies;
  std::string delimiter;
  std::string removed_delimiter;
  bool delimiter_cuts;
  bool delimiter_parts_by_byte;
  bool script_runs;
  bool calls_pretokenizer;
  bool boundaries_end_pretokens;

  // What is counted: whole sentences, raw tokens or pretokens.
  bool whole_sentences;
  bool uniform_starts;
  bool by_raw_tokens;

  // Which data counting keeps for later stages.
  bool keeps_contexts;
  bool looks_at_text_end;
  bool keeps_order;
  bool keeps_pretokens;
  bool cuts_segments;
  bool removes_all_empty;

  // How the trainers read the pretokens.
  bool em_reads_sentences;
  bool seed_tree_of_characters;
  std::string bpe_delimiter;
  size_t bpe_longest_pretoken;
};

}  // namespace spmcompat
