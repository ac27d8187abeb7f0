"""The documentation names every command, option, key and file that there is, and no other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

from ckpt_audit.alerts.checks import run_checks
from ckpt_audit.cli import app
from ckpt_audit.config_load import load_config
from tests.alerts.test_checks import LIMITS
from tests.report.fixture_data import month

ROOT = Path(__file__).resolve().parents[1]
COMMANDS_MD = (ROOT / "docs" / "commands.md").read_text()
README = (ROOT / "README.md").read_text()


def commands() -> dict[str, Any]:
    """Every command by what people type."""
    root: Any = typer.main.get_command(app)
    found = {}
    for name, command in root.commands.items():
        inner = getattr(command, "commands", None)
        found |= {f"{name} {sub}": c for sub, c in inner.items()} if inner else {name: command}
    return found


def section(name: str) -> str:
    """The part of the page about a command, with the options that all have."""
    match = re.search(rf"^## ckpt-audit {name}$(.*?)(?=^## |\Z)", COMMANDS_MD, re.M | re.S)
    assert match, f"docs/commands.md has no section on {name}"
    common = COMMANDS_MD[: COMMANDS_MD.index("\n## ckpt-audit ")]
    return match.group(1) + common


@pytest.mark.parametrize("name", commands())
def test_every_option_is_documented(name: str) -> None:
    text = section(name)
    for parameter in commands()[name].params:
        for option in parameter.opts if parameter.param_type_name == "option" else ():
            assert re.search(rf"`{re.escape(option)}[ `]", text), f"{name} {option}"


def test_every_documented_command_and_option_exists() -> None:
    assert set(re.findall(r"^## ckpt-audit (.+)$", COMMANDS_MD, re.M)) == set(commands())
    root: Any = typer.main.get_command(app)
    known = {o for c in [root, *commands().values()] for p in c.params for o in p.opts}
    for option in re.findall(r"`(--?[a-z][a-z-]*)", COMMANDS_MD):
        assert option in known | {"--help", "-h"}, option


def test_every_check_is_documented() -> None:
    named = {result.name for result in run_checks(month(), month().as_of, LIMITS)}
    assert all(f"| `{name}` |" in COMMANDS_MD for name in named | {"input_unreadable"})


def test_the_configuration_in_the_readme_is_valid() -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.S)
    assert tomllib.loads(block)
    file = Path("/etc/ckpt-audit.toml")
    config = load_config({}, {}, Path("/etc"), {file: block}.get)
    assert config.runs["llama-70b"].configured_interval_steps == 60


def test_the_corrections_in_the_docs_are_valid() -> None:
    (block,) = re.findall(
        r"```toml\n(.*?)```", (ROOT / "docs" / "corrections.md").read_text(), re.S
    )
    config = load_config({}, {}, Path("/etc"), {Path("/etc/ckpt-audit.toml"): block}.get)
    assert [one.action for one in config.corrections] == [
        "merge", "split", "reclassify", "set", "exclude",
    ]  # fmt: skip


@pytest.mark.parametrize("page", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text()
    for target in re.findall(r"\]\(([^)#]+)", text):
        if target != "docs/report.png":  # made by `make example`
            assert (ROOT / target).exists(), target


def test_the_glossary_has_every_moment_kind_and_bucket() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text()
    report = month()
    for bucket in {line.bucket for run in report.runs for line in run.ledger}:
        assert f"`{bucket}`" in glossary
    for kind in ("failure", "preemption", "mitigation", "planned", "operator_rollback", "unknown"):
        assert f"`{kind}`" in glossary


def test_every_make_target_has_a_line_of_help() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", text, re.M)) - {"chromium"}
    assert targets == set(re.findall(r"^([a-z-]+):[^#\n]*## ", text, re.M))
