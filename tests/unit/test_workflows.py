"""The workflows of GitHub: what they run is pinned, and only what was tested can be published."""

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}  # v[\d.]+")


def parsed(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    workflow: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return workflow


def needed_by(jobs: dict[str, Any], name: str) -> set[str]:
    """Return the jobs that a job needs, directly or through others."""
    needs = jobs[name].get("needs", [])
    direct = {needs} if isinstance(needs, str) else set(needs)
    return direct.union(*(needed_by(jobs, job) for job in direct))


def test_there_are_workflows():
    assert [path.stem for path in WORKFLOWS] == ["release", "tests", "wheels"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_a_hash(path: Path):
    used = re.findall(r"^ *(?:- )?uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used
    for action in used:
        local = action.startswith("./") and (ROOT / action).is_file()
        assert local or PINNED.fullmatch(action), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_only_the_job_that_publishes_may_ask_for_a_token(path: Path):
    workflow = parsed(path)
    assert workflow["permissions"] == {"contents": "read"}
    more = {name for name, job in workflow["jobs"].items() if "permissions" in job}
    assert more == ({"publish"} if path.stem == "release" else set())


def test_what_is_published_was_built_and_tested_in_the_same_run():
    jobs = parsed(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    assert needed_by(jobs, "publish") == {"tests", "wheels", "check"}
    called = {name: job["uses"] for name, job in jobs.items() if "uses" in job}
    assert called == {
        "tests": "./.github/workflows/tests.yml",
        "wheels": "./.github/workflows/wheels.yml",
    }
    # A condition without success() would run the job although another one failed.
    for job in jobs.values():
        assert "if" not in job or job["if"].startswith("success() &&")
        assert "continue-on-error" not in job
    # Without a run's number, artifacts are those of the same run.
    for step in jobs["publish"]["steps"]:
        assert not {"run-id", "github-token", "repository"} & set(step.get("with", {}))


def test_every_wheel_is_tested():
    tomllib = pytest.importorskip("tomllib")
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    settings = tomllib.loads(text)["tool"]["cibuildwheel"]
    assert "test-skip" not in settings
    tables = [settings, settings["linux"], settings["macos"], *settings["overrides"]]
    for table in tables:
        commands = table.get("test-command", settings["test-command"])
        for command in [commands] if isinstance(commands, str) else commands:
            paths = [ROOT / word for word in command.split() if word.startswith("tests/")]
            assert paths
            assert all(path.exists() for path in paths)
