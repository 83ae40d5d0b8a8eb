"""The names of what `spmcompat.tools.show.check` finds, with explanations and remedies."""

EXPLANATIONS = {
    "broken-pieces": "No tokenizer can have these pieces: empty, too long, not UTF-8, or with "
    "U+0000, a character that represents no byte or a score that is not finite. Remove or rename "
    "them.",
    "duplicate-pieces": "These pieces or ids occur several times. Keep one of each.",
    "unreachable-pieces": "No text is ever cut into these pieces, because others always win. "
    "Remove them, or correct their scores or merges.",
    "changed-pieces": "Normalized text never contains these pieces. Remove them, or change the "
    "normalizer.",
    "divided-pieces": "The pre-tokenizer always divides these pieces. Train with the pre-tokenizer "
    "that is in the file.",
    "split-digits": "These pieces join digits that are always divided. Train with the same "
    "division of digits as in use.",
    "split-spaces": "These pieces join words that are always divided at spaces. Train with the "
    "same division as in use.",
    "missing-bytes": "Text with these bytes is lost or unknown. Train with all bytes as initial "
    "alphabet.",
    "missing-characters": "The text has these characters, but no piece does. Raise the character "
    "coverage, or use byte fallback.",
    "special-tokens-in-merges": "Merges make or use these special tokens, because they were plain "
    "text in training. Train without them in the text.",
    "plain-patterns": "The pre-tokenizer looks for these strings themselves, but they look like "
    'expressions. Write {"Regex": ...} instead of {"String": ...}, and train again.',
    "score-order": "The scores of these pieces are too high: in BPE not below those of their "
    "parts, in Unigram not below 0. Correct them with spmcompat edit --set_score.",
    "merge-order": "Each merge that makes these pieces comes before its parts are made. Order the "
    "merges as they were learned.",
    "id-gaps": "No piece has these ids. Renumber the pieces, or add tokens that reserve the ids.",
    "size": "The number of pieces is not a multiple of 64, with which GPUs are faster. Choose "
    "another vocab_size, or pad the embeddings.",
}
"""What each name means, and what to do. The names never change."""

NOTES = ("size",)
"""Those that are no faults."""
