"""Calls that are type-checked but never run. `wrong` marks the lines that must be rejected."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import spmcompat
from spmcompat import SentencePieceTrainer

path = Path("corpus.txt")
stream = io.BytesIO()
options: dict[str, Any] = {"vocab_size": 8000}


def lines() -> Iterator[str]:
    yield "a line"


def split(sentence: str) -> list[str]:
    return sentence.split("-")


# train
spmcompat.train(input="a.txt", model_prefix="m")
spmcompat.train(input=["a.txt", path], model_prefix=path, vocab_size=8000, model_type="bpe")
spmcompat.train(sentence_iterator=lines(), model_writer=stream, vocab_size=[8000, 16000])
spmcompat.train(input=path, normalization_rule_name="nmt_nfkc_cf", compat="0.2.1")
spmcompat.train(input=path, character_coverage=1, user_defined_symbols=("<a>", "<b>"))
spmcompat.train(input=path, pretokenizer=split, on_round=print, workers=None)
spmcompat.train(input=path, self_test_sample_size=5, **options)
spmcompat.train(counts=spmcompat.load_counts("c.parquet"), final_estimate="em:3", recipe="paper")
spmcompat.train(language_counts=["de.parquet", path], language_ratios=[1, 0.5])
spmcompat.train(input=path, vocabsize=8000)  # wrong
spmcompat.train(input=path, worker=3)  # wrong
spmcompat.train("a.txt")  # wrong
spmcompat.train(input=path, vocab_size="8000")  # wrong
spmcompat.train(input=path, vocab_size=8000.0)  # wrong
spmcompat.train(input=5)  # wrong
spmcompat.train(input=path, model_type="BPE")  # wrong
spmcompat.train(input=path, normalization_rule_name="nmt_nfck")  # wrong
spmcompat.train(input=path, input_format="json")  # wrong
spmcompat.train(input=path, space_pieces="apart")  # wrong
spmcompat.train(input=path, compat="0.1.99")  # wrong
spmcompat.train(input=path, split_digits="true")  # wrong
spmcompat.train(sentence_iterator=5)  # wrong
spmcompat.train(input=path, model_writer=io.StringIO())  # wrong
spmcompat.train(input=path, logstream="log.txt")  # wrong

# SentencePieceTrainer.train
SentencePieceTrainer.train("--input=a.txt --model_prefix=m")
SentencePieceTrainer.train(input="a.txt,b.txt", model_prefix="m", vocab_size=8000)
SentencePieceTrainer.Train(input=["a.txt", "b.txt"], model_prefix="m", control_symbols="<a>,<b>")
SentencePieceTrainer.train(sentence_reader=lines(), model_writer=stream, byte_fallback=True)
SentencePieceTrainer.train(input="a.txt", model_prefix="m", **options)
SentencePieceTrainer.train(input="a.txt", vocabsize=8000)  # wrong
SentencePieceTrainer.train(input="a.txt", normalization_rule_name="nmt_nfck")  # wrong
SentencePieceTrainer.train(input="a.txt", user_defined_symbols=("<a>", "<b>"))  # wrong
SentencePieceTrainer.train(input="a.txt", vocab_size=None)  # wrong
SentencePieceTrainer.train(8000)  # wrong
SentencePieceTrainer.Train(input="a.txt", model_typ="bpe")  # wrong

# Counts
spmcompat.count(input=path, max_sentence_length=100, control_symbols=["<a>"]).save("c.parquet")
total = spmcompat.count(sentence_iterator=lines(), column="text") + spmcompat.load_counts(path)
spmcompat.arrow_counter("text", normalization_rule_name="identity", byte_fallback=True)
total = spmcompat.merge_counts([total, path], weights=[1, 2.5], output="both.parquet")
spmcompat.merge_counts([total, path], weights="1,2.5", output="both.parquet")  # wrong
spmcompat.count(input=path, max_sentence_len=100)  # wrong
spmcompat.count(input=path, vocab_size=8000)  # wrong
spmcompat.arrow_counter("text", workers=2)  # wrong
spmcompat.load_counts(5)  # wrong

# Changes to models
model: bytes = spmcompat.extend("m.model", add=100, input=path, workers=2, column="text").model
spmcompat.trim(model, keep=500, counts=total, output="small.model", drop_characters=True)
spmcompat.edit("m.model", add=["new"], rename={"old": "new"}, set_score={"a": -1}).ids["new"]
size: int = spmcompat.merge(["a.model", path], weights=[1, 2.5], vocab_size=500).size
spmcompat.extend("m.model", input=path)  # wrong
spmcompat.extend("m.model", add=100, input=path, model_type="bpe")  # wrong
spmcompat.trim("m.model", keep="500", input=path)  # wrong
spmcompat.trim("m.model", keep=500, input=path, minloglvl=2)  # wrong
spmcompat.edit("m.model", rename=["old", "new"])  # wrong
spmcompat.edit("m.model", ad=["new"])  # wrong
spmcompat.merge(["a.model", "b.model"], weights="1,2")  # wrong

# Other libraries
spmcompat.export("m.model", to="gguf", output=path, verify="no")
spmcompat.import_model("tokenizer.json", output="m.model")
spmcompat.export("m.model", to="gguf", output=path, verify="if_possible", text=["a"])
spmcompat.export("m.model", to="gguf", output=path, verify="maybe")  # wrong
spmcompat.export("m.model", to="ggml", output=path)  # wrong
spmcompat.export("m.model", to="gguf")  # wrong
spmcompat.import_model("tokenizer.json", "m.model")  # wrong

# Tools
same: bool = spmcompat.diff("a.model", model, affixes=path).equal
kinds: dict[str, int] = spmcompat.show(model).pieces
shown: str = spmcompat.view(["a.model", path], "a text", "another", ids=True).tokens[0][0][0].text
spmcompat.view("a.model", text=path, lines=3).text(colour=True)
report = spmcompat.evaluate("m.model", text={"de": "de.txt", "en": path}, bootstrap=100)
spmcompat.evaluate(["a.model", path], counts=total, gold="words.tsv").rows()
spmcompat.compare("a.txt", output="report", vocab_size=[500, 1000], configs=["bpe"]).to_dict()
seconds: float = spmcompat.parity(input=path, vocab_size=100).ours.process.seconds
spmcompat.diff("a.model")  # wrong
same = spmcompat.diff("a.model", "b.model").equals  # wrong
spmcompat.show(5)  # wrong
spmcompat.view("a.model", 5)  # wrong
spmcompat.view("a.model", text="a.txt", line=5)  # wrong
spmcompat.evaluate("m.model", text="a.txt", units="words")  # wrong
spmcompat.evaluate("m.model", "a.txt")  # wrong
spmcompat.compare("a.txt")  # wrong
spmcompat.parity(input=path, vocabsize=100)  # wrong
spmcompat.import_tokenizer("tokenizer.json", output="m.model")  # wrong
