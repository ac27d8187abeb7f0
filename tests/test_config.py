"""Where a value comes from, and what is said of a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckpt_audit.config import Config, RunMatch
from ckpt_audit.config_load import env_name, load_config
from ckpt_audit.errors import ConfigError

HERE = Path("/site/project/logs")
FILE = Path("/site/project/ckpt-audit.toml")

WHOLE = """
timezone = "Europe/Berlin"
display_timezone = "America/New_York"
accelerators_per_node = 8
price_per_accelerator_hour = 2
topology = "topology.conf"
verified_grade = "shards"
db = "audit.duckdb"
wait = "1m"

[[source]]
match = "logs/*.out"
timezone = "UTC"
run = "llama"

[[source]]
match = "*"
format = "slurm_sacct"

[runs."llama-70b"]
target_step = 1000
configured_interval_steps = 60
match = { name = "llama*", user = "ada" }
price_per_accelerator_hour = 3.5
accelerators = 1024

[runs.moe]
configured_interval = "45m"

[[planned_window]]
start = 2026-05-02T08:00:00
end = 2026-05-02T12:00:00
reason = "maintenance"

[thresholds]
stale_after = "2d"
residual_min_share = 0.02
"""


def load(
    text: str | None = None,
    environ: dict[str, str] | None = None,
    flags: dict[str, str] | None = None,
    files: dict[Path, str] | None = None,
    config_file: Path | None = None,
) -> Config:
    known = dict(files or {})
    if text is not None:
        known[FILE] = text
    return load_config(flags or {}, environ or {}, HERE, known.get, config_file)


def test_nothing_is_required() -> None:
    assert load() == Config()


def test_a_whole_file_is_read() -> None:
    config = load(WHOLE)
    assert config.timezone == "Europe/Berlin"
    assert config.display_zone.key == "America/New_York"
    assert config.topology == Path("/site/project/topology.conf")
    assert config.db == Path("/site/project/audit.duckdb")
    assert config.wait_s == 60.0
    assert config.runs["llama-70b"].match == RunMatch(name="llama*", user="ada")
    assert config.runs["moe"].configured_interval_s == 2700.0
    assert config.price_for("llama-70b") == 3.5
    assert config.price_for("moe") == 2.0
    assert config.thresholds.stale_after_s == 172_800.0
    assert config.thresholds.correlation_window_s == 600.0
    # a time without an offset is one of the display zone (UTC-4 in May)
    assert config.planned_windows[0].start_at == 1_777_723_200_000_000


def test_the_first_rule_that_says_something_about_a_source_wins() -> None:
    rule = load(WHOLE).source_rule("/data/logs/a.out")
    assert (rule.timezone, rule.run, rule.format) == ("UTC", "llama", "slurm_sacct")
    assert load(WHOLE).source_rule("other/sacct.txt").timezone is None


def test_flags_win_over_environment_over_file_over_defaults() -> None:
    environ = {"CKPT_AUDIT_DB": "env.duckdb", "CKPT_AUDIT_THRESHOLDS_STALE_AFTER": "3h"}
    config = load('db = "file.duckdb"\nwait = 5', environ, {"db": "flag.duckdb"})
    assert config.db == Path("flag.duckdb")
    assert config.thresholds.stale_after_s == 10_800.0
    assert config.wait_s == 5.0
    assert config.origins == {
        "db": "--db",
        "thresholds.stale_after": "environment CKPT_AUDIT_THRESHOLDS_STALE_AFTER",
        "wait": "ckpt-audit.toml",
    }


def test_settings_say_where_each_value_came_from() -> None:
    settings = load(WHOLE, {"CKPT_AUDIT_ACCELERATORS_PER_NODE": "4"}).settings()
    assert settings["accelerators_per_node"] == ("4", env_text("accelerators_per_node"))
    assert settings["verified_grade"] == ("shards", "ckpt-audit.toml")
    assert settings["thresholds.correlation_window"] == ("10.0 min", "default")
    assert settings["runs.llama-70b.match.name"] == ("llama*", "ckpt-audit.toml")
    assert settings["source[1].run"] == ("llama", "ckpt-audit.toml")
    assert settings["topology"] == ("topology.conf", "ckpt-audit.toml")
    assert settings["planned_window[1].reason"] == ("maintenance", "ckpt-audit.toml")
    assert "db" not in settings


def env_text(key: str) -> str:
    return f"environment {env_name(key)}"


def test_the_nearest_file_upwards_is_taken_then_the_users_then_the_machines() -> None:
    user = Path("/home-of-ada/.config/ckpt-audit/ckpt-audit.toml")
    machine = Path("/etc/ckpt-audit.toml")
    files = {machine: "wait = 3", user: "wait = 2", Path("/ckpt-audit.toml"): "wait = 1"}
    environ = {"HOME": "/home-of-ada"}
    found = []
    while files:
        found.append(load(environ=environ, files=files).wait_s)
        files.popitem()
    assert found == [1.0, 2.0, 3.0]


def test_a_named_file_must_be_there() -> None:
    with pytest.raises(ConfigError, match=r"^none\.toml: there is no such configuration file$"):
        load(config_file=Path("none.toml"))
    with pytest.raises(ConfigError, match="no such configuration file"):
        load(environ={"CKPT_AUDIT_CONFIG": "none.toml"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timezon = 'UTC'", ":1: unknown key 'timezon'; did you mean 'timezone'?"),
        ("\n[thresholds]\nstale_afer = 3", ":3: unknown key 'stale_afer' in thresholds; did you"),
        ("[runs.a]\ntarget = 5", ":2: unknown key 'target' in runs.a; did you mean 'target_step'?"),
        ("[[source]]\nmatch='*'\nzone='UTC'", ":3: unknown key 'zone' in source; "),
        ("[[source]]\nrun='a'", ":1: every [[source]] needs 'match'"),
        ("[source]\nmatch='*'", ":1: 'source' is a list of tables: write [[source]]"),
        ("runs = 3", ":1: 'runs' must hold one table a run"),
        ("timezone = 'Berlin'", ":1: 'timezone' is no time zone ('Berlin')"),
        ("timezone = 3", ":1: 'timezone' must be a text, not 3"),
        ("accelerators_per_node = 0", ":1: 'accelerators_per_node' must be a whole number of at"),
        ("accelerators_per_node = true", "not true"),
        ("price_per_accelerator_hour = -1", "must be a number of at least 0, not -1"),
        ("[thresholds]\nresidual_min_share = 2", "must be a share from 0 to 1, not 2"),
        ("wait = '3 parsecs'", ":1: 'wait' must be a duration: "),
        ("verified_grade = 'sure'", "must be one of marker, shards, checksum, loaded, not 'sure'"),
        (
            "[[planned_window]]\nstart='soon'\nend=2026-05-01",
            ":2: 'start' in planned_window must be a date",
        ),
        ("[runs.a]\nmatch = 'x'", "'runs.a.match' must be a table"),
        (
            "[[planned_window]]\nstart=2026-05-02\nend=2026-05-01",
            ":3: the planned window ends before it starts",
        ),
        ("wait = ", ": this is not TOML: "),
    ],
)
def test_a_mistake_is_one_line_with_its_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    said = str(caught.value)
    assert said.startswith(str(FILE))
    assert message in said
    assert "\n" not in said
    assert caught.value.exit_code == 2


def test_a_mistake_in_the_environment_names_the_variable() -> None:
    with pytest.raises(ConfigError, match=r"^CKPT_AUDIT_TIMEZON: unknown .*'CKPT_AUDIT_TIMEZONE'"):
        load(environ={"CKPT_AUDIT_TIMEZON": "UTC"})
    with pytest.raises(ConfigError, match=r"^CKPT_AUDIT_WAIT: it must be a duration"):
        load(environ={"CKPT_AUDIT_WAIT": "x"})
    with pytest.raises(ConfigError, match=r"^--wait: it must be a duration"):
        load(flags={"wait": "x"})


@pytest.mark.parametrize(
    "text",
    ["a = " + "[" * 5000, "wait = 1" + "0" * 5000, "a = 1\nb = [", "\x00"],
    ids=["deep", "long number", "open", "nul"],
)
def test_what_is_no_configuration_is_one_line(text: str) -> None:
    with pytest.raises(ConfigError):
        load_config({}, {}, Path("/etc"), {Path("/etc/ckpt-audit.toml"): text}.get)


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_an_instant_outside_the_calendar(at: str) -> None:
    text = f'[[planned_window]]\nstart = "{at}"\nend = "2026-05-01"\n'
    with pytest.raises(ConfigError, match="must be of a year"):
        load_config({}, {}, Path("/etc"), {Path("/etc/ckpt-audit.toml"): text}.get)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (('[[correction]]\naction = "split"\nincident = "a"\nreason = "x"\n'
         '[[correction]]\naction = "splat"\nreason = "y"\n'), 6),
        # what stands in a long string or a comment is no table
        (('[[correction]]\naction = "split"\nincident = "a"\nreason = """\n[[correction]]\n"""\n'
         '# [[correction]]\n[[correction]]\naction = "split"\nreason = " "\nincident = "b"\n'), 10),
        (('[[planned_window]]\nstart = 2026-05-01\nend = 2026-05-02\n'
         '[[planned_window]]\nstart = 2026-05-02\nend = 2026-05-01\n'), 6),
        ('[[source]]\nmatch = "a"\n[[source]]\nrun = "b"\n', 3),
        ('correction = [{action = "split", incident = "a", reason = "x"}, {action = "b"}]\n', 1),
    ],
)  # fmt: skip
def test_the_line_is_that_of_the_right_table(text: str, line: int) -> None:
    file = Path("/etc/ckpt-audit.toml")
    with pytest.raises(ConfigError) as told:
        load_config({}, {}, Path("/etc"), {file: text}.get)
    assert told.value.where == f"{file}:{line}"
