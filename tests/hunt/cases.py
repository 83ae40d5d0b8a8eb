"""Makes cases with a seeded generator: random options for a text."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spmcompat.releases import RELEASES
from tests.hunt.texts import Source, generate
from tests.hunt.values import (
    BAD,
    DELIMITERS,
    NORMALIZING,
    RETIRED,
    RULE_LINES,
    RULES,
    SYMBOLS,
)
from tests.parity import pretokenizers
from tests.parity.case import DEFAULT_RELEASE, Case, Form, Option


class CaseMaker:
    """Makes one random case. All random decisions come from `dice`, which is seeded."""

    def __init__(
        self,
        dice: random.Random,
        source: Source,
        form: Form,
        kind: str = "unigram",
        release: str = DEFAULT_RELEASE,
    ) -> None:
        self.dice = dice
        self.release = release
        self.source = source
        self.form = form
        self.kind = kind
        self.options: dict[str, Option] = {}
        self.files: dict[str, bytes] = {}

    def chance(self, share: float) -> bool:
        return self.dice.random() < share

    def set(self, name: str, share: float, values: Sequence[Option]) -> None:
        """Set an option to one of `values`, with the probability `share`."""
        if self.chance(share):
            self.options[name] = self.dice.choice(values)

    def make(self, workers: Sequence[int]) -> Case:
        data = self.slice()
        text = data.decode(errors="replace")
        # Some cases only use one group of options, so that a difference points to that group.
        groups = [self.sizes, self.splitting, self.symbols, self.ids, self.normalization]
        groups += [self.seed_file, self.characters, self.reading, self.storing, self.experiments]
        for group in self.dice.sample(groups, self.dice.choice([1, 2, 4, len(groups)])):
            group(text)
        self.target(text)
        self.model_type()
        self.forget()
        # Do not add bad options if the release does not know all options: of two wrong options,
        # the reference reports only one, and the order of a hash table decides which.
        unknown = RELEASES[self.release].unknown_options & self.options.keys()
        if self.chance(0.06) and not unknown:
            self.options.update(self.dice.choice(BAD))
        if self.options.get("auto_character_coverage") and self.kind == "unigram":
            data = data.replace(b"\0", b"")  # see docs/deviations.md
        case = self.self_tests(self.hand_over(data))
        case = replace(
            case,
            workers=self.dice.choice(workers),
            spelling=self.dice.randrange(1 << 30),
            release=self.release,
        )
        return self.pretokenize(self.normalize(case)) if case.form == "python" else case

    def self_tests(self, case: Case) -> Case:
        """Let some models store self-tests: all lines, or a sample if runs draw the same one."""
        release = RELEASES[self.release]
        if "self_test_sample_size" in release.retired_options or self.chance(0.6):
            return case
        lines = len(case.sentences or ()) + sum(
            data.count(b"\n") + 1 for data in case.files.values()
        )
        options = dict(case.options)
        options["self_test_sample_size"] = 1000
        if case.form == "cli" and release.sample_is_repeatable:
            options["self_test_sample_size"] = self.dice.choice([1, 20, 1000])
            options["random_seed"] = self.dice.randrange(1 << 32)
        elif lines > 1000:
            del options["self_test_sample_size"]
        return replace(case, options=options)

    def normalize(self, case: Case) -> Case:
        """Give some cases a normalizer object. A few keep options that contradict it, and fail."""
        takes = "normalizer" not in RELEASES[self.release].unknown_options
        if not self.chance(0.08 if takes else 0.01):
            return case
        arguments: dict[str, Any] = {"rule_name": self.dice.choice(RULES)}
        if self.chance(0.3) and takes:  # a release that takes no normalizer also lacks norm_map
            arguments = {"norm_map": [("e", "é"), ("ab", "b a"), (" ", "_"), ("の", "")]}
        for name in ("add_dummy_prefix", "remove_extra_whitespaces", "escape_whitespaces"):
            if self.chance(0.3):
                arguments[name] = name == "escape_whitespaces" or self.chance(0.3)
        options = dict(case.options)
        if self.chance(0.9):
            for name in NORMALIZING:
                options.pop(name, None)
        return replace(case, options=options, normalizer=arguments)

    def pretokenize(self, case: Case) -> Case:
        """Give some cases a function that pre-tokenizes; a few of them must fail."""
        takes = self.kind in ("unigram", "bpe")
        takes = takes and "pretokenizer" not in RELEASES[self.release].unknown_options
        if not self.chance(0.15 if takes else 0.01):
            return case
        consistent = self.chance(0.6)
        names = [*(pretokenizers.CONSISTENT if consistent else pretokenizers.INCONSISTENT)]
        if self.chance(0.1):
            names = [*pretokenizers.FAILING]
        options = dict(case.options)
        if self.chance(0.95):
            options.pop("pretokenization_delimiter", None)
        if not consistent and self.chance(0.9):
            options["allow_inconsistent_pretokenization"] = True
        name = self.dice.choice(names)
        if name in pretokenizers.CUTTING_CHARACTERS and self.kind == "unigram":
            options.pop("auto_character_coverage", None)  # see docs/deviations.md
        return replace(case, options=options, pretokenizer=name)

    def slice(self) -> bytes:
        """Take a slice of the text. Most slices are whole lines; some begin inside a character."""
        if self.source.whole:
            return self.source.data
        size = (
            int(1000 * self.dice.choice([5, 10, 20, 40, 80, 150, 300]) * self.dice.random()) + 500
        )
        if self.chance(0.04):
            size = 1_000_000
        begin = self.dice.randrange(max(1, self.source.size() - size))
        data = self.source.part(begin, size)
        if self.chance(0.85):
            first, last = data.find(b"\n") + 1, data.rfind(b"\n") + 1
            if last - first > 200:
                data = data[first:last]
        return data

    def target(self, text: str) -> None:
        """Choose a vocabulary size. For generated texts, it is so small that pieces are pruned."""
        soft = self.chance(0.78)
        sizes = [300, 700, 1500, 3000, 5000, 8000, 30000] if soft else [300, 600, 1000, 1500]
        if self.source.whole:
            least = len(set(text)) + (260 if "byte_fallback" in self.options else 4)
            more = [0, 2, 5, 15, 50, 100, 200, 600] if soft else [0, 1, 3, 8]
            sizes = [least + pieces for pieces in more]
        self.options["vocab_size"] = self.dice.choice(sizes)
        if soft or self.chance(0.3):
            self.options["hard_vocab_limit"] = not soft

    def model_type(self) -> None:
        """Change the case to another model type, and remove most options that it refuses."""
        if self.kind == "unigram":
            return
        self.options["model_type"] = self.dice.choice([self.kind, self.kind.upper()])
        if self.chance(0.95):
            self.options.pop("seed_sentencepieces_file", None)
        if self.kind == "bpe":
            if self.chance(0.3):
                self.automatic_coverage()
            return
        if self.chance(0.95):
            self.options.pop("pretokenization_delimiter", None)
        self.set("use_all_vocab", 0.4, [True])
        self.set("vocab_size", 0.3, [3, 4, 7, 30, 100, 270])

    def forget(self) -> None:
        """Remove most options that the release does not know."""
        release = RELEASES[self.release]
        for name in sorted(release.unknown_options & self.options.keys()):
            if self.chance(0.97):
                del self.options[name]
        if "enable_differential_privacy" not in release.retired_options:
            # The noise is random, so bytes cannot be compared.
            self.options.pop("enable_differential_privacy", None)

    def sizes(self, text: str) -> None:
        self.set("num_threads", 0.6, [1, 2, 3, 4, 7, 16, 33])
        self.set("num_sub_iterations", 0.4, [1, 2, 3, 5])
        self.set("shrinking_factor", 0.4, [0.5, 0.6, 0.75, 0.9, 0.95])
        self.set("max_sentencepiece_length", 0.4, [1, 2, 3, 5, 8, 16, 17, 40, 512])
        self.set("seed_sentencepiece_size", 0.4, [0, 1, 50, 1000, 20000, 1000000])
        self.set("max_sentence_length", 0.3, [10, 40, 200, 4192, 100000])

    def splitting(self, text: str) -> None:
        for name in ("split_by_unicode_script", "split_by_number", "split_by_whitespace"):
            self.set(name, 0.4, [False, False, True])
        for name in ("split_digits", "treat_whitespace_as_suffix", "allow_whitespace_only_pieces"):
            self.set(name, 0.4, [True, True, False])
        self.set("pretokenization_delimiter", 0.25, [*DELIMITERS, self.substring(text)])
        if self.options.get("allow_whitespace_only_pieces"):
            self.set("remove_extra_whitespaces", 0.6, [False])

    def symbols(self, text: str) -> None:
        for name in ("control_symbols", "user_defined_symbols"):
            if self.chance(0.5):
                pool = [*SYMBOLS, *(self.substring(text) for _ in range(4))]
                taken = self.options.get("control_symbols", [])
                assert isinstance(taken, list)
                chosen = self.dice.sample(sorted(set(pool) - set(taken)), self.dice.randint(1, 5))
                self.options[name] = [symbol for symbol in chosen if symbol]
        if self.form == "cli":
            for name in ("control_symbols", "user_defined_symbols"):
                if self.chance(0.3):
                    self.options[f"{name}_file"] = f"{name}.txt"
                    self.files[f"{name}.txt"] = f"<{name}1>\n<{name},2>\n".encode()

    def ids(self, text: str) -> None:
        self.set("byte_fallback", 0.3, [True])
        if self.chance(0.6):
            # The four ids are drawn together, so no two are equal. `BAD` has cases of equal ids.
            numbers = self.dice.sample(range(6), 4)
            names = ("unk_id", "bos_id", "eos_id", "pad_id")
            for name, number in zip(names, numbers, strict=True):
                absent = self.chance(0.25) and (name != "unk_id" or "byte_fallback" in self.options)
                self.options[name] = -1 if absent else number
        self.set("unk_piece", 0.2, ["[UNK]", "⁇", "unk"])
        self.set("bos_piece", 0.2, ["[BOS]", "<bos>", self.substring(text) or "b"])
        self.set("eos_piece", 0.2, ["[EOS]", "<|end|>"])
        self.set("pad_piece", 0.2, ["[PAD]"])
        self.set("unk_surface", 0.3, ["?", "", " ? ", "⁇"])

    def normalization(self, text: str) -> None:
        self.set("normalization_rule_name", 0.6, RULES)
        for name in ("add_dummy_prefix", "remove_extra_whitespaces"):
            self.set(name, 0.4, [False, False, True])
        if self.form != "cli":
            self.set("escape_whitespaces", 0.06, [True, True, False])
        for name in ("normalization_rule_tsv", "denormalization_rule_tsv"):
            if self.chance(0.2):
                self.options[name] = f"{name}.tsv"
                lines = self.dice.sample(RULE_LINES, self.dice.randint(1, 6))
                self.files[f"{name}.tsv"] = "".join(lines).encode()

    def seed_file(self, text: str) -> None:
        if not self.chance(0.3):
            return
        counts = Counter("▁" + word[:12] for word in text.split())
        counts.update(self.substring(text, 5) for _ in range(200))
        lines = [
            f"{piece}\t{count}\n"
            for piece, count in counts.most_common(self.dice.choice([50, 3000]))
            if piece and not set(piece) & set("\t\n")
        ]
        if self.chance(0.1):
            lines.insert(len(lines) // 2, self.dice.choice(["lonely\n", "bad\tx\n", "zero\t0\n"]))
        self.options["seed_sentencepieces_file"] = "seeds.tsv"
        self.files["seeds.tsv"] = "".join(lines).encode()

    def characters(self, text: str) -> None:
        self.set("character_coverage", 0.7, [0.98, 0.99, 0.995, 0.9995, 1.0])
        self.set(
            "required_chars", 0.4, ["abc", "éß日本", "▁", "zq\U0001f600", "", "ａ１", "\u0301"]
        )
        if self.form == "cli" and self.chance(0.3):
            self.options["required_chars_file"] = "required.txt"
            self.files["required.txt"] = "abc\nйы日\n".encode()

    def experiments(self, text: str) -> None:
        """Set options that the reference has only on its command line."""
        self.set("use_sparse_pruning", 0.7, [True, True, False])
        self.set("post_l1_debias", 0.4, [False, False, True])
        self.set("seed_piece_length_power", 0.4, [0.0, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, -1.0, 60.0])
        self.set("min_freq_alpha", 0.4, [0.0, 0.05, 0.3, 1.0, 3.0, 40.0, -1.0, 1e30])
        if self.options.get("use_sparse_pruning") is True and self.chance(0.5):
            self.automatic_coverage()

    def automatic_coverage(self) -> None:
        self.options.update(auto_character_coverage=True, byte_fallback=True)
        if self.chance(0.95):
            self.options.pop("required_chars", None)
            self.options.pop("required_chars_file", None)

    def reading(self, text: str) -> None:
        self.set("input_format", 0.4, ["text", "", "tsv"])
        if self.chance(0.3):
            # Use all lines, the first lines or, if every process draws the same sample, a sample. A
            # sample that differs between processes cannot be compared.
            whole = self.chance(0.5)
            self.options["input_sentence_size"] = (
                10_000_000 if whole else self.dice.randint(101, 2000)
            )
            repeatable = RELEASES[self.release].sample_is_repeatable and self.chance(0.7)
            if not whole or self.chance(0.5):
                self.options["shuffle_input_sentence"] = whole or repeatable

    def storing(self, text: str) -> None:
        self.set("vocabulary_output_piece_score", 0.4, [False, True])
        self.set("model_type", 0.3, ["unigram", "UNIGRAM", "Unigram"])
        self.set("model_prefix", 0.3, ["out", "model.v1", "m-ü"])
        for name in self.dice.sample(sorted(RETIRED), self.dice.choice([0, 0, 1, 2])):
            if self.form != "cli":
                self.options[name] = RETIRED[name]
        if self.form == "cli":
            self.set("random_seed", 0.3, [1, 12345])
        else:
            self.set("minloglevel", 0.2, [0, 1, 2])
            for name, value in list(self.options.items()):
                if isinstance(value, bool) and self.chance(0.1):
                    self.options[name] = self.dice.choice(
                        ["1", "yes", "t"] if value else ["0", "no"]
                    )

    def substring(self, text: str, longest: int = 3) -> str:
        at = self.dice.randrange(max(1, len(text)))
        return text[at : at + self.dice.randint(1, longest)].strip().replace("\0", "")

    def hand_over(self, data: bytes) -> Case:
        """Return the case. Choose how it passes the text (files or an iterator) and the options."""
        if self.options.get("input_format") == "tsv":
            data = self.as_counts(data)
        iterator = self.form != "cli" and "input" not in self.options and self.chance(0.25)
        if not iterator:
            self.options.setdefault("input", "")
            self.options.setdefault("model_prefix", "m")
            self.as_files(data)
            whole = all(
                " " not in str(value) and name not in self.list_options()
                for name, value in self.options.items()
            )
            form = "string" if self.form == "python" and whole and self.chance(0.2) else self.form
            return Case(self.options, self.files, form=form)
        writer = self.chance(0.4)
        if writer:
            self.options.pop("model_prefix", None)
        else:
            self.options.setdefault("model_prefix", "m")
        sentences: list[str | bytes] = list(data.split(b"\n"))
        if self.chance(0.5):
            sentences = [part.decode(errors="replace") for part in data.split(b"\n")]
        return Case(
            self.options,
            self.files,
            sentences=sentences,
            handing=self.dice.choice(["iterator", "generator", "list"]),
            writer=writer,
        )

    @staticmethod
    def list_options() -> Mapping[str, None]:
        return dict.fromkeys(("control_symbols", "user_defined_symbols"))

    def as_files(self, data: bytes) -> None:
        if self.options["input"]:
            self.files["other.txt"] = data
            return
        count = self.dice.choice([1, 1, 1, 2, 3])
        names = [self.dice.choice([f"text{n}.txt", f"t-{n}"]) for n in range(count)]
        lines = data.splitlines(keepends=True)
        step = len(lines) // count + 1
        for number, name in enumerate(names):
            self.files[name] = b"".join(lines[number * step : (number + 1) * step])
        if self.chance(0.1):
            names.insert(self.dice.randrange(count + 1), "empty.txt")
            self.files["empty.txt"] = b""
        self.options["input"] = names if self.chance(0.3) else ",".join(names)

    def as_counts(self, data: bytes) -> bytes:
        """Return lines with counts: words with their numbers, or lines with few distinct counts."""
        # To find seeds, the reference repeats a sentence as often as its count: keep counts small.
        scales = [1, 1, 2, 7] if self.kind == "unigram" else [1, 1, 7, 1000, 10**6, 10**12]
        text = data.decode(errors="replace")
        if self.chance(0.5):
            scale = self.dice.choice(scales)
            counts = {word: scale * count for word, count in Counter(text.split()).items()}
        else:
            few = self.dice.choices([1, 2, 7, 1000] if self.kind != "unigram" else scales, k=3)
            parts = dict.fromkeys(line.replace("\t", " ").strip("\r") for line in text.split("\n"))
            counts = {part: self.dice.choice(few) for part in parts}
        lines = [f"{part}\t{count}\n" for part, count in counts.items()]
        if self.chance(0.1):
            lines.append(self.dice.choice(["word\n", "word\tx\n", "a\tb\t3\n", "word\t0\n"]))
        return "".join(lines).encode()


def make_case(
    seed: int,
    number: int,
    texts: Sequence[Source],
    form: Form,
    workers: Sequence[int],
    kinds: Sequence[str] = ("unigram",),
    generated: float = 0.5,
    release: str = DEFAULT_RELEASE,
    texts_of: Sequence[str] = (),
) -> tuple[Case, str]:
    """Return a case and the name of its text, which is generated with probability `generated`.

    Generated texts are of the kinds `texts_of`, or of any kind if there are none.
    """
    dice = random.Random(f"{seed}/{number}/type")
    kind = dice.choice(kinds)
    source = generate(dice, texts_of) if dice.random() < generated else dice.choice(texts)
    maker = CaseMaker(random.Random(f"{seed}/{number}"), source, form, kind, release)
    return maker.make(workers), source.name
