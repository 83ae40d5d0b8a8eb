"""The expressions of well-known tokenizers, and the scanners that split texts as they do.

The meaning of an expression is that of the engine of Hugging Face ``tokenizers``.
"""

EXPRESSIONS = {
    # GPT-2, and ByteLevel with use_regex.
    r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+": "gpt2",
    # The same words, as tiktoken spells it for r50k_base and p50k_base.
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s": "gpt2",
    # cl100k_base of tiktoken, which writes {1,3}+ to prevent backtracking. In the engine of
    # tokenizers, that is a repetition without a limit. The file tokenizer.json of GPT-4 has the
    # expression of Llama 3.
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s": "cl100k",
    # GPT-4o and gpt-oss.
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+": "o200k",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+": "llama3",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+": "qwen2",
}
"""The name of the scanner for each expression."""


def scanner_of(expression: str) -> str | None:
    """Return the name of the scanner that splits texts as an expression does.

    Parameters
    ----------
    expression : str
        The pattern of a ``Split`` in a file tokenizer.json.

    Returns
    -------
    str or None
        None if the expression is not one of `EXPRESSIONS`.
    """
    return EXPRESSIONS.get(expression)
