"""Trains and evaluates each configuration.

The folder of the report also contains the text for training, the held-out text, the models, one
JSON file of results for each model, and a list of all these files. A second call uses a stored
result if the command and the texts are still the same. So it continues where an interrupted call
stopped.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import BinaryIO, NamedTuple

from spmcompat.engine import FILE_OPTIONS, SPACE_MARK, __version__
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.runtime.measure import run
from spmcompat.runtime.outputs import outputs
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.compare.configs import OURS, TRAINED_HERE, Config
from spmcompat.tools.compare.folder import OPTION, ReportFolder
from spmcompat.tools.compare.results import Result, read_result, write_result
from spmcompat.tools.evaluate.bootstrap import Bootstrap
from spmcompat.tools.evaluate.evaluation import Evaluation, evaluate
from spmcompat.tools.evaluate.gold import GoldScores, boundaries
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.languages import LanguageFigures, Languages, check_parallel
from spmcompat.tools.evaluate.models import Model, Token, load_model
from spmcompat.tools.evaluate.texts import TextFiles, Texts


class TrainerFailedError(TrainingError):
    """A trainer that is compared has failed."""

    kind = "trainer-failed"


HELD_OUT = 20  # one of every 20 lines is held out
SPLITS = ("train.txt", "held-out.txt")
_SHOWN_LINES = 8
_SHOWN_CHARACTERS = 120
_WARNING = "WARNING spmcompat: "  # the beginning of a warning in the log of a training process
_LONGEST_NAME = 100  # bytes before the suffix of a file name; file systems allow 255 in total


class _TrainedModel(NamedTuple):
    """A trained model: its path, the command, and the time and memory of the training."""

    command: str
    seconds: float
    mib: float
    model: Path


class SplitTexts(NamedTuple):
    """The text for training, the held-out text, and the held-out lines that the report shows.

    `by_language` has the held-out text of each language, if the text has languages. `reference` is
    the language that parity refers to; by default the first one. `parallel` says whether line i
    says the same in every language.
    """

    train: Path
    held_out: Path
    lines: tuple[str, ...]
    fingerprint: str
    by_language: Mapping[str, Path] = {}
    reference: str | None = None
    parallel: bool = False

    @property
    def evaluated(self) -> TextFiles:
        """The held-out text, by language if the text has languages."""
        if not self.by_language:
            return TextFiles([str(self.held_out)])
        return TextFiles([*map(str, self.by_language.values())], [*self.by_language])


def split_text(
    text: Texts, folder: ReportFolder, report: Report, parallel: bool = False
) -> SplitTexts:
    """Hold out every twentieth non-blank line. The other non-blank lines are the training text.

    If the text has languages, blank lines are counted, too, and every twentieth line of each
    language is held out. So the held-out lines of parallel texts are parallel, too.

    Raises
    ------
    TrainingError
        If the text cannot be read, has too few lines, or has a line that is too long; or if it is
        parallel, but the numbers of lines differ.
    """
    train, held_out = folder.claim(*SPLITS)
    digest = hashlib.sha256()
    counts: dict[str | None, int] = {}
    languages: dict[str, Path] = {}
    with (
        outputs(OPTION) as files,
        files.open(train) as to_train,
        files.open(held_out) as to_evaluate,
        report.stage("Splitting the text", text.size, "bytes") as stage,
        ExitStack() as stack,
    ):
        to_language: dict[str, BinaryIO] = {}
        for lines, _, language, bytes_read in text.batches():
            if language is not None and language not in languages:
                (path,) = folder.claim(f"held-out-{len(languages) + 1}.txt")
                languages[language] = path
                to_language[language] = stack.enter_context(files.open(path))
            digest.update(repr((language, len(lines))).encode())
            stage.advance(bytes_read)
            for content in lines:
                line = content.replace(b"\n", b" ") + b"\n"
                digest.update(line)
                is_blank = not line.strip()
                if is_blank and language is None:
                    continue
                counts[language] = counts.get(language, 0) + 1
                if counts[language] % HELD_OUT:
                    to_train.write(b"" if is_blank else line)
                    continue
                to_evaluate.write(line)
                if language is not None:
                    to_language[language].write(line)
        _check_sizes(counts, text)
        if parallel:
            check_parallel({str(name): lines for name, lines in counts.items()})
    return SplitTexts(train, held_out, _lines_to_show(held_out), digest.hexdigest(), languages)


def _check_sizes(counts: Mapping[str | None, int], text: Texts) -> None:
    """Raise if a text is too short to hold out a line."""
    for language, lines in (counts or {None: 0}).items():
        if lines < HELD_OUT:
            name = ", ".join(text.paths) if language is None else f"The text of {language!r}"
            kind = "lines that are not empty" if language is None else "lines"
            raise BadValueError(f"{name} has {lines} {kind}. At least {HELD_OUT} are needed.")


def _lines_to_show(held_out: Path) -> tuple[str, ...]:
    """Choose the lines that the report shows: their beginnings, from everywhere in the text."""
    lines = []
    with open(held_out, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        for part in range(_SHOWN_LINES):
            file.seek(size * part // _SHOWN_LINES)
            if part:
                file.readline()  # the rest of a line
            text = file.readline().decode(errors="replace").strip()
            lines.append(text[:_SHOWN_CHARACTERS].rstrip())
    return tuple(filter(None, dict.fromkeys(lines)))


def train_and_evaluate(
    configs: Sequence[Config],
    sizes: Iterable[int],
    texts: SplitTexts,
    gold: Sequence[GoldList],
    folder: ReportFolder,
    workers: Workers,
    report: Report,
    bootstrap: Bootstrap | None = None,
) -> list[Result]:
    """Train and evaluate, and return the results by vocabulary size, then by configuration.

    Only missing results are computed. If only the evaluation changed, the models are not trained
    again.

    Raises
    ------
    TrainingError
        If a training run fails. The results of earlier runs stay in the folder.
    """
    trained: dict[str, _TrainedModel] = {}
    return [
        _result(config, size, texts, gold, folder, workers, report, bootstrap, trained)
        for size in sizes
        for config in configs
    ]


def _result(
    config: Config,
    size: int,
    texts: SplitTexts,
    gold: Sequence[GoldList],
    folder: ReportFolder,
    workers: Workers,
    report: Report,
    bootstrap: Bootstrap | None,
    trained: dict[str, _TrainedModel],
) -> Result:
    name = f"{config.name}-{size}"
    file_name = _file_name(name)
    prefix = folder.path / "models" / file_name
    command, model = _command(config, size, texts.train, prefix)
    shown = shlex.join(["python", *command[1:]])
    path = folder.path / "results" / f"{file_name}.json"
    of_training = {
        "command": command,
        "text": texts.fingerprint,
        "files": _digests(config),
        "release": _release(config),
        # An older release of spmcompat may have stored fewer figures. Such a result is not used.
        "figures": [
            *(Result._fields + Evaluation._fields + GoldScores._fields),
            *(Languages._fields + LanguageFigures._fields),
        ],
    }
    made_from = {
        **of_training,
        "drop_spaces": config.drop_spaces,
        "gold": _fingerprint(gold),
        "bootstrap": None if bootstrap is None else bootstrap._asdict(),
        "reference": texts.reference,
        "parallel": texts.parallel,
    }
    stored = read_result(path, made_from)
    lists, languages = [g.name for g in gold], [*texts.by_language]
    if stored is not None and not stored.fits(texts.lines, lists, bootstrap, languages):
        stored = None
    # If two configurations differ only in what happens after training, they share a model.
    key = repr((config.trainer, sorted(config.flags.items()), size))
    if stored is not None:
        report.info(f"{name}: result read from {path}")
        if stored.command == shown and model.exists():
            trained.setdefault(key, _TrainedModel(shown, stored.seconds, stored.mib, model))
        return stored._replace(config=config.name, vocab_size=size)
    if key not in trained:
        earlier = read_result(path, of_training)
        if earlier is not None and earlier.command == shown and model.exists():
            trained[key] = _TrainedModel(shown, earlier.seconds, earlier.mib, model)
    if key in trained:
        report.info(f"{name}: model read from {trained[key].model}")
    else:
        report.info(f"{name}: {shlex.join(command)}")
        ends = ("json",) if model.suffix == ".json" else ("model", "vocab")
        folder.claim(*(f"models/{file_name}.{end}" for end in (*ends, "log")))
        # A stored result belongs to the model that this training replaces.
        folder.claim(f"results/{file_name}.json")
        path.unlink(missing_ok=True)
        seconds, mib = _train(command, prefix, name, report)
        trained[key] = _TrainedModel(shown, seconds, mib, model)
    training = trained[key]
    loaded = load_model(str(training.model), workers)
    (evaluation,) = evaluate(
        [loaded],
        texts.evaluated,
        gold,
        report,
        drop_spaces=config.drop_spaces,
        bootstrap=bootstrap,
        reference=texts.reference,
        parallel=texts.parallel,
    )
    result = Result(
        config.name,
        size,
        training.command,
        training.seconds,
        training.mib,
        evaluation,
        _tokens(loaded, texts.lines, drop_spaces=config.drop_spaces),
        tuple(sorted(loaded.vocabulary)),
        {found.name: _cuts(loaded, found) for found in gold},
    )
    folder.claim(f"results/{file_name}.json")
    write_result(path, result, made_from)
    return result


def _tokens(
    model: Model, lines: Sequence[str], *, drop_spaces: bool
) -> tuple[tuple[Token, ...], ...]:
    """Return the tokens of each line that the report shows."""
    dropped = SPACE_MARK + " " if drop_spaces else ""
    return tuple(
        tuple(token for token in tokens if not dropped or token.text.strip(dropped))
        for tokens in model.tokens(lines)
    )


def _cuts(model: Model, gold: GoldList) -> tuple[tuple[int, ...], ...]:
    """Return the offsets at which a model cuts each word of a gold list."""
    parts = model.cut([word.text for word in gold.words])
    return tuple(tuple(sorted(boundaries(word))) for word in parts)


def _file_name(name: str) -> str:
    """Return the file name for a result. Different result names give different file names.

    A short name of lower-case ASCII characters does not change. Any other name is shortened and
    gets a digest. Upper-case letters need a digest because some file systems ignore case. The
    letter x before the digest distinguishes it from a vocabulary size, which ends each unchanged
    name.
    """
    if re.fullmatch(r"[a-z0-9][a-z0-9._-]*", name) and len(name) <= _LONGEST_NAME:
        return name
    readable = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".-")[: _LONGEST_NAME // 2]
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"{readable}-x{digest}"


def _command(config: Config, size: int, text: Path, prefix: Path) -> tuple[list[str], Path]:
    """Return the command that trains the configuration, and the path of its model."""
    if config.trainer != OURS:
        model = prefix.with_name(prefix.name + ".json")
        return command_for_tokenizers(config, size, text, model), model
    flags = {"input": str(text), "model_prefix": str(prefix), "vocab_size": str(size)}
    flags |= {"hard_vocab_limit": "false", "minloglevel": "1", **config.flags}
    command = [sys.executable, "-m", "spmcompat", "train"]
    command += [f"--{flag}={value}" for flag, value in flags.items()]
    return command, prefix.with_name(prefix.name + ".model")


def command_for_tokenizers(config: Config, size: int, text: Path, model: Path) -> list[str]:
    """Return the command that trains a tokenizer.json."""
    kind = config.trainer.partition(".")[2]
    if kind not in TRAINED_HERE:
        module = "spmcompat.tools.compare.huggingface"
        return [sys.executable, "-m", module, str(text), str(size), str(model)]
    flags = {
        "like": Path(__file__).with_name("templates") / f"{kind}.json",
        "input": text,
        "vocab_size": size,
        "output": model,
        "minloglevel": 1,
    }
    command = [sys.executable, "-m", "spmcompat", "train_tokenizer"]
    return [*command, *(f"--{flag}={value}" for flag, value in flags.items())]


def _release(config: Config) -> str:
    """Return the release of the library that trains a configuration."""
    kind = config.trainer.partition(".")[2]
    return __version__ if config.trainer == OURS or kind in TRAINED_HERE else version("tokenizers")


def _train(command: Sequence[str], prefix: Path, name: str, report: Report) -> tuple[float, float]:
    """Run a training command, and return its time in seconds and its peak memory in MiB.

    The warnings in its log are repeated.
    """
    try:
        process = run(command, Path())
    except OSError as error:
        raise TrainerFailedError(
            f"{name} cannot be started: {error.strerror}. Shorten the values of its options."
        ) from error
    log = prefix.with_name(prefix.name + ".log")
    log.write_text(process.log, encoding="utf-8")
    if process.failure:
        raise TrainerFailedError(f"{name} failed: {process.failure} See {log} for all messages.")
    for line in process.log.split("\n"):
        if line.startswith(_WARNING):
            report.warning(f"{name}: {line.removeprefix(_WARNING)}")
    return process.seconds, process.peak_kib / 1024


def _digests(config: Config) -> dict[str, str]:
    """Return the digests of the files that the options of a configuration name."""
    paths = {name: Path(config.flags[name]) for name in FILE_OPTIONS if name in config.flags}
    # A pipe can be read only once. Training names a file that cannot be read.
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest()
        for name, path in paths.items()
        if path.is_file() and os.access(path, os.R_OK)
    }


def _fingerprint(gold: Sequence[GoldList]) -> str:
    lists = [
        (found.name, [(word.text, sorted(word.boundaries)) for word in found.words])
        for found in gold
    ]
    return hashlib.sha256(repr(lists).encode()).hexdigest()
