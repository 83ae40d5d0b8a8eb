"""The values from which random cases draw their options."""

from __future__ import annotations

from tests.parity.case import Option

SYMBOLS = [
    "<sep>",
    "<cls>",
    "[MASK]",
    "@",
    "the",
    "e",
    "▁",
    "▁the",
    "。",
    "a,b",
    'say "x"',
    "<0x41>",
]
SYMBOLS += ["<s>", "</s>", "<pad>", "ＡＢ", "é", "..", "0", "12", "日本"]
DELIMITERS = ["e", "-", "||", "▁t", "▁", ".", "の", ",", "th"]
RULES = ["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]
RULE_LINES = ["41\t61\n", "61 62\t78\n", "C9\t65 301\n", "65 301\te9\n", "2D\t\n", "1F600\t3A 29\n"]
RULE_LINES += ["74 68 65\t54\n", "6F\t30\n", "3042\t30A2\t# kana\n", "20 20\t20\n", "22\t27 27\n"]
NORMALIZING = ["normalization_rule_name", "normalization_rule_tsv", "add_dummy_prefix"]
NORMALIZING += ["remove_extra_whitespaces", "escape_whitespaces"]
"""Options that cannot be used together with a normalizer object."""

RETIRED: dict[str, Option] = {
    "accept_language": "en,de",
    "self_test_sample_size": 0,
    "mining_sentence_size": 3,
    "training_sentence_size": 3,
    "train_extremely_large_corpus": True,
    "enable_differential_privacy": True,
    "differential_privacy_noise_level": 0.5,
    "differential_privacy_clipping_threshold": 3,
}
"""Options of old releases, which newer ones ignore."""

BAD: list[dict[str, Option]] = [
    {"num_threads": 0},
    {"num_threads": 1025},
    {"character_coverage": 0.5},
    {"character_coverage": 1.5},
    {"shrinking_factor": 0.3},
    {"num_sub_iterations": 11},
    {"max_sentencepiece_length": 513},
    {"max_sentence_length": 9},
    {"input_sentence_size": 50},
    {"vocab_size": 0},
    {"vocab_size": 5},
    {"vocab_size": "many"},
    {"vocab_size": 10_000_000, "hard_vocab_limit": True},
    {"input": "nowhere.txt"},
    {"input_format": "xml"},
    {"unk_id": 1},
    {"unk_id": -1},
    {"bos_id": 3, "eos_id": 3},
    {"pad_id": 1 << 28},
    {"unk_piece": ""},
    {"control_symbols": ["<x>", "<x>"]},
    {"control_symbols": ["<x>"], "user_defined_symbols": ["<x>"]},
    {"user_defined_symbols": ["<unk>"]},
    {"use_all_vocab": True},
    {"normalization_rule_name": "nfd"},
    {"normalization_rule_tsv": "nowhere.tsv"},
    {"auto_character_coverage": True},
    {"model_prefix": "missing-folder/m"},
    {"no_such_option": 1},
    {"split_digits": "maybe"},
]
"""Options that mostly make both sides fail."""
