"""Workers: tasks, errors and interrupts."""

import gc
import io
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime.threads import CancelFlag
from spmcompat.runtime.workers import Workers
from tests.parity import corpora
from tests.processes import read_until, start_python
from tests.waiting import LIMIT, wait_for_work, wait_until


def assert_ended(workers: Workers) -> None:
    """Fail if a thread of the workers is still running."""
    assert all(thread.has_ended() for thread in workers.threads)


@pytest.mark.parametrize("count", [1, 2, 7])
@pytest.mark.parametrize("tasks", [0, 1, 5, 500])
def test_every_task_is_done_once(count: int, tasks: int) -> None:
    done: list[list[int]] = [[] for _ in range(count)]
    workers = Workers(count)
    for tasks_of_call in (range(tasks), range(tasks, 2 * tasks)):
        workers.feed(tasks_of_call, lambda worker, task: done[worker].append(task))
    assert sorted(task for part in done for task in part) == list(range(2 * tasks))


def test_reading_ahead_keeps_order_and_raises_behind_the_items_before() -> None:
    def items() -> Iterator[int]:
        yield from range(20)
        raise ValueError("here")

    seen: list[int] = []
    workers = Workers(1)
    with pytest.raises(ValueError, match="here"):
        seen.extend(workers.ahead(items()))
    assert seen == list(range(20))
    assert workers.cancel.is_set()
    assert_ended(workers)
    assert list(Workers(1).ahead([])) == []


def test_the_next_item_is_read_while_the_caller_is_busy_and_not_too_early() -> None:
    begun: list[int] = []
    reading = [threading.Event() for _ in range(50)]

    def items() -> Iterator[int]:
        for item in range(50):
            begun.append(item)
            reading[item].set()
            yield item

    for item in Workers(1).ahead(items()):
        assert reading[min(item + 1, 49)].wait(LIMIT)
        assert len(begun) <= item + 2


def test_reading_ahead_ends_when_nobody_reads() -> None:
    closed = threading.Event()

    def items() -> Iterator[int]:
        try:
            yield from range(10**9)
        finally:
            closed.set()

    source = items()
    workers = Workers(1)
    ahead = workers.ahead(source)
    assert next(ahead) == 0
    ahead.close()
    assert_ended(workers)
    source.close()  # raises if the thread is still running the generator
    assert closed.is_set()


def test_tasks_begin_in_order() -> None:
    """A task may wait for earlier tasks. Tasks begin in order, so at least one task always runs."""
    begun: list[int] = []
    Workers(1).feed(range(100), lambda _, task: begun.append(task))
    assert begun == list(range(100))


def test_tasks_are_taken_in_the_calling_thread_and_only_as_needed() -> None:
    takers: set[int] = set()
    finished = 0
    ahead: list[int] = []

    def tasks() -> Iterator[int]:
        for task in range(100):
            takers.add(threading.get_ident())
            ahead.append(task - finished)
            yield task

    def do(_: int, task: int) -> None:
        nonlocal finished
        finished += 1

    Workers(1).feed(tasks(), do)
    assert takers == {threading.get_ident()}
    # Whenever a task is taken, at most one earlier task is unfinished.
    assert max(ahead) <= 1


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_error_stops_the_others(count: int) -> None:
    done: list[int] = []

    def do(_: int, task: int) -> None:
        if task == 3:
            raise ValueError("task 3")
        done.append(task)

    workers = Workers(count)
    with pytest.raises(ValueError, match="task 3"):
        workers.feed(range(1_000_000), do)
    assert workers.cancel.is_set()
    assert len(done) < 1_000_000
    assert_ended(workers)


def test_an_error_of_the_iterator_is_raised_and_stops_the_workers() -> None:
    error = ValueError("iterator")

    def tasks() -> Iterator[int]:
        yield 1
        raise error

    workers = Workers(2)
    with pytest.raises(ValueError, match="iterator") as raised:
        workers.feed(tasks(), lambda _, __: None)
    assert raised.value is error
    assert workers.cancel.is_set()
    assert_ended(workers)


def test_threads_end_with_each_call() -> None:
    workers = Workers(3)
    for call in (
        lambda: workers.feed(range(100), lambda _, __: None),
        lambda: workers.feed(iter(range(100)), lambda _, __: None),
    ):
        call()
        assert len(workers.threads) == 3
        assert_ended(workers)
    assert list(workers.ahead(range(100))) == list(range(100))
    assert_ended(workers)


@pytest.mark.skipif(
    sys.version_info[:2] in [(3, 12), (3, 13)],
    reason="these releases of Python crash if there is no memory for a variable of a closure",
)
def test_any_allocation_of_python_may_fail(tmp_path: Path) -> None:
    """If a thread cannot start because memory ran out, nothing may wait for it forever."""
    pytest.importorskip("_testcapi")
    completed = subprocess.run(
        [sys.executable, "-m", "tests.unit.runtime.failing_threads", "300"],
        cwd=tmp_path,  # outside the checkout, whose spmcompat may not be compiled
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (completed.returncode, completed.stderr) == (0, "")
    failures, last_ran_through = completed.stdout.split()
    assert int(failures) > 10
    assert last_ran_through == "True"


def test_the_flag_is_shared() -> None:
    flag = CancelFlag()
    with pytest.raises(ZeroDivisionError):
        Workers(1, flag).feed([0], lambda _, task: print(1 // task))
    assert flag.is_set()


@pytest.fixture
def no_collection() -> Iterator[None]:
    """Switch the garbage collector off: Python drops an interrupt that arrives in its callbacks."""
    gc.disable()
    yield
    gc.enable()


def press_ctrl_c() -> None:
    """Interrupt the main thread, which runs the test. Use it with `no_collection`."""
    main = threading.main_thread().ident
    assert main is not None
    signal.pthread_kill(main, signal.SIGINT)


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("tasks", [1, 100])
def test_an_interrupt_does_not_wait_for_long_tasks(
    count: int, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each running task ignores the cancel flag. Other tasks may not have started yet."""
    monkeypatch.setattr(spmcompat.runtime.workers, "_PATIENCE", 0.1)
    release = threading.Event()
    begun, number = [], itertools.count(1)
    ended: list[int] = []
    workers = Workers(count)

    def do(_: int, task: int) -> None:
        begun.append(task)
        if next(number) == min(count, tasks):
            press_ctrl_c()
        release.wait(LIMIT)
        ended.append(task)

    with pytest.raises(KeyboardInterrupt):
        workers.feed(range(tasks), do)
    assert ended == []
    release.set()
    assert all(thread.await_end(LIMIT) for thread in workers.threads)
    # Tasks that were waiting do not start.
    assert len(begun) == len(ended) == min(count, tasks)


@pytest.mark.usefixtures("no_collection")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("tasks", [1, 100])
def test_an_interrupt_waits_for_tasks_that_check_the_flag(
    count: int, tasks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spmcompat.runtime.workers, "_PATIENCE", 60)
    workers = Workers(count)
    begun, number = [], itertools.count(1)
    ended: list[int] = []

    def do(_: int, task: int) -> None:
        begun.append(task)
        if next(number) == min(count, tasks):
            press_ctrl_c()
        wait_until(workers.cancel.is_set, "the flag is set")
        # If the workers did not wait for this task, the asserts below would run before it ends.
        time.sleep(0.1)
        ended.append(task)

    with pytest.raises(KeyboardInterrupt):
        workers.feed(range(tasks), do)
    assert len(begun) == len(ended) == min(count, tasks)
    assert_ended(workers)


LONG_WORD = "a" * 300_000
PROGRAM = """
import sys, time
import spmcompat
try:
    spmcompat.SentencePieceTrainer.train({arguments!r})
except KeyboardInterrupt:
    sys.exit("KeyboardInterrupt")
"""


def many_words() -> str:
    return "\n".join(" ".join(f"{i * i:x}{i}" for i in range(j, j + 50)) for j in range(40_000))


STAGES = {
    "seeding": (b"Seeding: ", lambda: corpora.fibonacci_text(27, 200_000)),
    "one long word": (b"EM and pruning", lambda: LONG_WORD),
    "many words": (b"EM sub_iter=0", many_words),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("form", ["command", "python"])
def test_ctrl_c_inside_a_kernel(form: str, stage: str, tmp_path: Path) -> None:
    mark, text = STAGES[stage]
    (tmp_path / "t.txt").write_text(text())
    arguments = (
        "--input=t.txt --model_prefix=m --vocab_size=50 --max_sentence_length=1000000 "
        "--max_sentencepiece_length=100 --num_sub_iterations=10"
    )
    command = ["-m", "spmcompat", "train", *arguments.split()]
    if form == "python":
        command = ["-c", PROGRAM.format(arguments=arguments)]
    with start_python(command, tmp_path, stderr=subprocess.PIPE) as process:
        seen = read_until(process.stderr, mark)
        assert process.stderr is not None
        wait_for_work(process.pid, 0.1)
        process.send_signal(signal.SIGINT)
        status = process.wait(LIMIT)
        seen += process.stderr.read()
    if form == "command":
        assert (status, seen.splitlines()[-1]) == (
            130,
            b"spm_train: interrupted; no file was written.",
        )
    else:
        assert (status, seen.splitlines()[-1]) == (1, b"KeyboardInterrupt")
    assert os.listdir(tmp_path) == ["t.txt"]


def train(text: str, workers: int, **options: object) -> bytes:
    model = io.BytesIO()
    spmcompat.SentencePieceTrainer.train(
        sentence_iterator=iter(text.split("\n")),
        model_writer=model,
        hard_vocab_limit=False,
        minloglevel=2,
        workers=workers,
        **options,
    )
    return model.getvalue()


def test_the_model_does_not_depend_on_the_workers() -> None:
    text = corpora.words_text(8, 300, types=200)
    models = {train(text, workers, vocab_size=150, num_threads=5) for workers in (1, 2, 3, 8)}
    assert len(models) == 1


def test_two_trainings_at_once() -> None:
    jobs = [
        (corpora.words_text(1, 400, types=250), {"vocab_size": 200, "num_threads": 3}),
        (corpora.ties_text(2, 400), {"vocab_size": 100, "split_by_whitespace": False}),
    ]
    alone = [train(text, 2, **options) for text, options in jobs]
    together: list[list[bytes]] = [[], []]
    start = threading.Barrier(2, timeout=LIMIT)

    def work(number: int) -> None:
        text, options = jobs[number]
        start.wait()
        for _ in range(3):
            together[number].append(train(text, 2, **options))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert together == [[alone[0]] * 3, [alone[1]] * 3]
