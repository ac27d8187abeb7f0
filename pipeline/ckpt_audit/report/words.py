"""The words of the page: names, definitions and colours of buckets, kinds, moments and terms."""

from __future__ import annotations

from typing import NamedTuple


class Bucket(NamedTuple):
    """A bucket of the ledger: name for people, colour of the palette, and meaning."""

    label: str
    colour: str
    meaning: str


BUCKETS: dict[str, Bucket] = {
    "productive": Bucket("New steps", "productive", "steps whose result was kept, at full speed"),
    "checkpoint": Bucket("Saving checkpoints", "checkpoint", "training time that saves took away"),
    "lost_work": Bucket("Work lost", "lost", "steps that an incident threw away"),
    "detection": Bucket("Noticing", "detection", "from the fault until something or someone acted"),
    "replacement": Bucket("Waiting for nodes", "replacement", "after an incident, nothing runs"),
    "restart": Bucket(
        "Restarting", "restart", "failed retries, launch, restore and first step after an incident"
    ),
    "startup": Bucket("Starting up", "startup", "the same at first start or after a planned stop"),
    "stall": Bucket(
        "Stalls", "stall", "pauses beyond the hang threshold that healed by themselves"
    ),
    "degraded": Bucket(
        "Slow steps", "degraded", "excess of sustained slow steps over healthy ones"
    ),
    "evaluation": Bucket("Evaluation", "evaluation", "pauses that the log names"),
    "spare_idle": Bucket("Idle spares", "idle", "allocated accelerators that no attempt used"),
    "orphan": Bucket("Orphaned", "orphan", "an allocation that went on after another took over"),
    "planned": Bucket("Planned idle", "planned", "allocated and idle by plan"),
    "unknown": Bucket("Unknown", "unknown", "no evidence says what happened"),
    "queue_after_incident": Bucket(
        "Queue after incident", "queue", "no allocation, waiting after an incident"
    ),
    "queue_after_planned": Bucket(
        "Queue after planned stop", "queue2", "no allocation, waiting after a planned end"
    ),
    "off": Bucket("Off", "off", "no allocation and none asked for"),
}
ORDER = tuple(BUCKETS)
STATES: dict[str, Bucket] = {  # what a run is seen to do, beside the buckets
    "training": Bucket("Training", "productive", "steps, kept or not"),
}

KINDS: dict[str, tuple[str, str]] = {
    "failure": ("failure", "failures"),
    "preemption": ("preemption", "preemptions"),
    "mitigation": ("mitigation", "mitigations"),
    "planned": ("planned end", "planned ends"),
    "operator_rollback": ("rollback by a person", "rollbacks by a person"),
    "unknown": ("end of unknown kind", "ends of unknown kind"),
}

EVENTS = ("failure", "unknown")  # the kinds that are events of M

GRADES: dict[str, str] = {
    "marker": "the framework's own completion marker",
    "shards": "every shard there at its size",
    "checksum": "a checksum pass",
    "loaded": "a later successful load",
}

MOMENTS: dict[str, str] = {
    "precursor": "Early sign",
    "precursor_at": "Early sign",
    "verified_step": "Verified checkpoint",
    "resume_step": "Resumed from",
    "last_step": "Last step",
    "last_step_at": "Last step",
    "fault_at": "Fault",
    "detected_at": "Noticed",
    "replaced_at": "Nodes there",
    "launched_at": "Program started",
    "load_started_at": "Load began",
    "restored_at": "Load ended",
    "first_step_at": "First step again",
    "caught_up_at": "Caught up",
}

STRENGTHS: dict[str, str] = {
    "stated": "the line says so",
    "derived": "computed from lines",
    "bounded": "between two lines",
    "absent": "nothing was printed",
}

POPULATIONS: dict[str, str] = {
    "all": "All {events}",
    "isolated": "Isolated only",
    "correlated": "Correlated only",
    "interval": "Those that set the interval",
}

TERMS: tuple[tuple[str, str], ...] = (
    ("Run", "Everything that advances one sequence of steps, over many jobs."),
    ("Attempt", "One execution of the training program, from launch to end."),
    (
        "Incident",
        (
            "One interruption of a run's progress with every failed retry after it, up to the "
            "first step of a recovery that lasts. A chain of failed restarts is one incident."
        ),
    ),
    (
        "Failure",
        (
            "Hardware, network, storage, software, out of memory, a hang, or a cause that nobody "
            "wrote down. Failures are the events of M, and with them ends of which nothing says "
            "how: unknown ends."
        ),
    ),
    ("Preemption", "The scheduler took the nodes for others."),
    ("Mitigation", "A person or a health check swapped a slow or suspect node."),
    ("Planned end", "A time limit, maintenance or an operator's stop with no fault."),
    ("Rollback by a person", "Someone went back to an earlier step, with no fault."),
    (
        "Isolated, correlated, cascade",
        (
            "Correlated incidents share a failure domain at nearly the same time; a cascade is a "
            "failure during the recovery from another. All others are isolated."
        ),
    ),
    ("Productive (new steps)", "Executions whose result was kept, at healthy speed."),
    ("Lost hours", "All allocated hours that did not go into new steps."),
    (
        "Work lost",
        (
            "Training time of the steps that an incident threw away, up to the fault. A step is "
            "thrown away once: a second rollback is not charged for it again."
        ),
    ),
    (
        "Time to notice, D",
        "From the first sign of the fault until something or someone acted on it.",
    ),
    (
        "Time to recover, R",
        (
            "From noticing to the first complete step: waiting for nodes, failed retries, launch, "
            "restore and warm-up."
        ),
    ),
    (
        "Cost of a save, C",
        "Training time that one checkpoint took away. The mean is what enters a formula.",
    ),
    (
        "Mean time between incidents, M",
        (
            "Up-time of the job divided by its failures and unknown ends; ends for another reason "
            "count as exposure and not as events. It belongs to the job at its number of "
            "accelerators."
        ),
    ),
    (
        "Exposure (up-time)",
        "From a first complete step to the fault, the planned end or the last evidence.",
    ),
    (
        "Interval, I",
        "Useful training time between the end of one save and the start of the next.",
    ),
    (
        "Effective interval",
        (
            "What a failure at a random moment sees: the mean of the squared distances between "
            "verified checkpoints over their mean."
        ),
    ),
    (
        "Flat region",
        (
            "The intervals whose expected waste is within 5% of the least: inside it, nothing is "
            "worth changing."
        ),
    ),
    ("Waste", "Share of wall-clock time that does not end up in retained steps."),
    (
        "Verified checkpoint",
        (
            "Durable, with positive evidence that it can be loaded, graded: marker (the framework "
            "said so), shards (all there at their size), checksum, loaded (it was loaded later)."
        ),
    ),
    ("Torn checkpoint", "Parts are missing, empty, short, or of different steps."),
    (
        "Could move",
        "Hours in a bucket that might belong to another one, for lack of evidence.",
    ),
    (
        "In sample",
        "A prediction made from the same days that it is compared with: agreement is no success.",
    ),
    ("Stall", "A pause beyond the hang threshold after which the same attempt went on."),
    (
        "Capacity",
        "Accelerator-hours times the price that was set: worth of the time, not cash paid.",
    ),
)


_SPELLED = {
    "cpu": "CPU",
    "cuda": "CUDA",
    "dbe": "DBE",
    "ecc": "ECC",
    "gpu": "GPU",
    "hbm": "HBM",
    "ib": "InfiniBand",
    "io": "I/O",
    "nccl": "NCCL",
    "nic": "NIC",
    "nvlink": "NVLink",
    "oom": "out of memory",
    "pcie": "PCIe",
    "sdc": "silent corruption",
    "xid": "Xid",
}


def bucket_label(bucket: str) -> str:
    """Name of a bucket for people; a name that is not known stands for itself."""
    known = BUCKETS.get(bucket) or STATES.get(bucket)
    return known.label if known else bucket.replace("_", " ")


def bucket_colour(bucket: str) -> str:
    """Colour of a bucket."""
    known = BUCKETS.get(bucket) or STATES.get(bucket)
    return known.colour if known else "unknown"


def kind_label(kind: str, count: int = 1) -> str:
    """Kind of an incident for people, for one or many.

    >>> kind_label("planned"), kind_label("failure", 2)
    ('planned end', 'failures')
    """
    one, many = KINDS.get(kind, (kind.replace("_", " "), kind.replace("_", " ")))
    return one if count == 1 else many


def event_label(failures: int, unknown: int) -> str:
    """Name of so many failures and unknown ends, which are counted together.

    >>> event_label(1, 0), event_label(0, 1), event_label(2, 1)
    ('failure', 'unknown end', 'failures and unknown ends')
    """
    if failures and unknown:
        return "failures and unknown ends"
    one = "unknown end" if unknown else "failure"
    return one if failures + unknown == 1 else f"{one}s"


def cause_label(cause: str) -> str:
    """Cause for people: blanks for underscores, and names spelled as usual.

    >>> cause_label("gpu_memory"), cause_label("")
    ('GPU memory', 'unknown')
    """
    words = cause.replace("_", " ").split()
    return " ".join(_SPELLED.get(word.lower(), word) for word in words) or "unknown"
