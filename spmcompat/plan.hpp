// Made by derive/plan.py from plan.py, which explains the fields; do not edit.
#pragma once

#include <cstdint>
#include <string>

namespace spmcompat {

struct CountingPlan {
  bool add_dummy_prefix;
  bool remove_extra_whitespaces;
  bool treat_whitespace_as_suffix;
  std::string delimiter;
  bool script_runs;
  bool calls_pretokenizer;
  bool tsv;
  uint32_t copies;
  bool whole_sentences;
  bool uniform_starts;
  bool by_raw_tokens;
  bool keeps_contexts;
  bool keeps_order;
  bool keeps_pretokens;
  bool cuts_segments;
  bool removes_all_empty;
};

struct CuttingPlan {
  uint32_t max_piece_length;
  bool split_by_unicode_script;
  bool split_by_number;
  bool split_by_whitespace;
  bool split_digits;
  bool whitespace_as_suffix;
  bool allow_whitespace_only_pieces;
  bool spaces_apart;
  bool boundaries_end_pretokens;
  uint32_t boundary;
  std::string removed_delimiter;
  bool delimiter_cuts;
  bool delimiter_parts_by_byte;
  std::string bpe_delimiter;
  uint32_t bpe_longest_pretoken;
  bool em_reads_sentences;
};

struct SeedingPlan {
  bool looks_at_text_end;
  bool seed_tree_of_characters;
};

struct Plan {
  CountingPlan counting;
  CuttingPlan cutting;
  SeedingPlan seeding;
};

}  // namespace spmcompat
