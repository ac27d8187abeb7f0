"""Histories of failure domains whose links are known: what is found, and how much by chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ckpt_audit.reliability.bursts import co_occurrence, short_gap_test
from ckpt_audit.reliability.discovery import FALSE_DISCOVERY, q_values
from ckpt_audit.reliability.links import find_links
from ckpt_audit.reliability.suspects import find_suspects

Floats = NDArray[np.float64]
Row = tuple[object, ...]
_HOURS = 1000.0
_TEN_MINUTES = 1.0 / 6.0


def linked(size: int) -> Iterator[Row]:
    """Links at a false discovery rate of 10 %: chance among them (and two standard errors), power.

    The domains' true rates have the coefficient of variation given; followers strike within ten
    minutes of another failure of their domain. Beside them one pooled rate, which is wrong.
    """
    yield (
        "domains",
        "failures expected",
        "variation of rates",
        "followers",
        "false discovery rate",
        "two errors",
        "power",
        "false with one rate for all",
    )
    for domains in (16, 256):
        for events in (20, 100):
            for cv in (0.0, 1.0, 2.0):
                for pairs in (0, 10):
                    rng = np.random.default_rng([domains, events, round(10 * cv), pairs])
                    rows = [_trial(rng, domains, events, cv, pairs) for _ in range(size)]
                    false, power, pooled = np.array(rows).T
                    error = 2 * false.std() / np.sqrt(size)
                    yield (
                        domains,
                        events,
                        cv,
                        pairs,
                        f"{false.mean():.3f}",
                        f"{error:.3f}",
                        f"{power.mean():.3f}" if pairs else "-",
                        f"{pooled.mean():.3f}",
                    )


def _trial(
    rng: np.random.Generator, domains: int, events: float, cv: float, pairs: int
) -> tuple[float, float, float]:
    """Share of chance in what is found, share of followers found, and the first with one rate."""
    rate = np.ones(domains) if cv == 0 else rng.gamma(1 / cv**2, cv**2, domains)
    counts = rng.poisson(events * rate / max(rate.sum(), 1e-12))
    domain = np.repeat(np.arange(domains), counts)
    clock = rng.uniform(0, _HOURS - _TEN_MINUTES, domain.size)
    first = rng.choice(domain.size, min(pairs, domain.size), replace=False)
    follows = np.concatenate([np.zeros(domain.size, bool), np.ones(first.size, bool)])
    clock = np.concatenate([clock, clock[first] + rng.uniform(0, _TEN_MINUTES, first.size)])
    domain = np.concatenate([domain, domain[first]])
    links = find_links(domain, clock, np.full(domains, _HOURS))
    has_next = links.after >= 0
    gap = np.where(has_next, clock[links.after] - clock, np.inf)
    p = np.where(has_next, -np.expm1(-domain.size / (domains * _HOURS) * gap), 1.0)
    shares = [
        float((~true).sum() / max(1, true.size))
        for found in (links.linked, q_values(p) <= FALSE_DISCOVERY)
        for true in [follows[links.after[found]]]
    ]
    hit = follows[links.after[links.linked]].sum() / max(1, first.size)
    return shares[0], float(hit), shares[1]


def short_gaps(size: int) -> Iterator[Row]:
    """The short-gap test at 5 %: windows of ten minutes, a month."""
    yield "failures", "none follow", "5 % follow", "10 % follow", "30 % follow"
    month = 30 * 86_400.0
    for n in (15, 30, 60):
        shares = []
        for share in (0.0, 0.05, 0.10, 0.30):
            rng = np.random.default_rng([n, round(100 * share)])
            p = [
                short_gap_test([(_cascade(rng, n, share, month), month)], 600.0, 1.0, seed, 399).p
                for seed in range(size)
            ]
            shares.append(np.mean([x is not None and x <= 0.05 for x in p]))
        yield n, *(f"{x:.3f}" for x in shares)


def together(size: int) -> Iterator[Row]:
    """The coincidence of two runs at 5 %: windows of ten minutes, a month, 20 failures each."""
    yield "failures of their own", "none in common", "2 in common", "4 in common"
    month = 30 * 86_400.0
    for name, share in (("constant rate", 0.0), ("cascade 0.3", 0.3)):
        found = []
        for common in (0, 2, 4):
            rng = np.random.default_rng([common, round(10 * share)])
            p = []
            for seed in range(size):
                shared = rng.uniform(0, month - 600, common)
                one, two = (
                    np.concatenate([_cascade(rng, 20 - common, share, month), moments])
                    for moments in (shared, shared + rng.uniform(0, 300, common))
                )
                p.append(co_occurrence(one, two, month, 600.0, seed, 399).p)
            found.append(np.mean([x is not None and x <= 0.05 for x in p]))
        yield name, *(f"{x:.3f}" for x in found)


def _cascade(rng: np.random.Generator, n: int, share: float, length: float) -> Floats:
    """So many failures, of which a share follows the one before within ten minutes."""
    primaries = np.sort(rng.uniform(0, length, n))
    follows = rng.random(n) < share
    followers = primaries[follows] + rng.uniform(0, 600.0, int(follows.sum()))
    all_of: Floats = np.sort(np.concatenate([primaries, followers[followers <= length]]))
    return all_of[:n]


def suspected(size: int) -> Iterator[Row]:
    """Suspects at a false discovery rate of 10 %, exposures from 0.2 to 1; the four bad ones fail
    so many times as often."""
    yield (
        "nodes",
        "failures",
        "any where all are alike",
        "10 times: found",
        "chance among them",
        "50 times: found",
        "chance among them",
    )
    for nodes in (32, 256, 2000):
        for events in (30, 100):
            rng = np.random.default_rng([nodes, events])
            cells: list[str] = []
            for factor in (1.0, 10.0, 50.0):
                found, false = np.array(
                    [_bad_nodes(rng, nodes, events, factor) for _ in range(max(20, size // 4))]
                ).T
                if factor == 1.0:
                    cells.append(f"{np.mean(false > 0):.3f}")
                else:
                    cells += [f"{found.mean():.3f}", f"{false.mean():.3f}"]
            yield nodes, events, *cells


def _bad_nodes(
    rng: np.random.Generator, nodes: int, events: int, factor: float
) -> tuple[float, float]:
    exposure = rng.uniform(0.2, 1.0, nodes)
    weight = exposure.copy()
    weight[:4] *= factor
    suspect = find_suspects(rng.multinomial(events, weight / weight.sum()), exposure).suspect
    bad = suspect[:4] if factor > 1.0 else suspect[:0]
    false = (suspect.sum() - bad.sum()) / max(1, suspect.sum())
    return float(bad.mean()) if bad.size else 0.0, float(false)


CORRELATION: dict[str, Callable[[int], Iterator[Row]]] = {
    "linked": linked,
    "short_gaps": short_gaps,
    "together": together,
    "suspected": suspected,
}
