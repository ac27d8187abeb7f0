"""From rates of devices and fleets to M, the mean up-time of a job.

M belongs to a job of a given size. The mean time between failures of a device is some thousand
times longer, and an interval computed from it is wrong by the root of that.
"""

from __future__ import annotations

from ckpt_audit.model.waste import checked

MTBF_OF_A_DEVICE_H = 1000.0
"""A mean up-time beyond this, for a job of many accelerators, is more likely one device's."""


def _count(accelerators: int) -> int:
    if accelerators < 1:
        raise ValueError(f"a job has at least one accelerator, got {accelerators}")
    return accelerators


def from_rate(per_accelerator_hour: float, accelerators: int) -> float:
    """Give the mean time between a job's failures in hours, from a rate per accelerator-hour.

    The rate is somebody's: it is only the site's own where it was measured there, with the same
    causes counted (of hosts, network and software too, not of devices alone).

    Args:
        per_accelerator_hour: failures per accelerator and hour of up-time, above zero.
        accelerators: of the job.

    Raises:
        ValueError: an argument is out of range.

    Source: rates of independent parts add.

    >>> round(from_rate(2e-5, 16_384) * 60, 3)  # minutes
    183.105
    """
    return 1.0 / (
        float(checked("rate", per_accelerator_hour, positive=True)) * _count(accelerators)
    )


def from_device_mtbf(mtbf: float, accelerators: int) -> float:
    """Give the mean time between a job's failures from that of one device, in its unit.

    Args:
        mtbf: mean time between failures of one device.
        accelerators: of the job.

    Raises:
        ValueError: an argument is out of range.

    >>> round(from_device_mtbf(50_000, 16_384), 3)  # hours
    3.052
    """
    return float(checked("mtbf", mtbf, positive=True)) / _count(accelerators)


def scaled(m: float, measured_at: int, accelerators: int) -> float:
    """Give M at another size, in the unit of ``m``.

    Args:
        m: mean up-time between incidents where it was measured.
        measured_at: accelerators there.
        accelerators: of the job in question.

    Raises:
        ValueError: an argument is out of range.

    Source: the rate per accelerator-hour stays. Failures of what all share (a storage system) do
    not grow with the size, so that this is pessimistic for larger jobs.

    >>> scaled(180.0, 16_384, 32_768)
    90.0
    """
    return float(checked("m", m, positive=True)) * _count(measured_at) / _count(accelerators)


def up_time_mean(between: float, d: float, r: float) -> float:
    """Give the mean up-time from the mean calendar time between incidents.

    Args:
        between: mean calendar time from incident to incident, outages included.
        d: mean time from fault to detected.
        r: mean time from detected to the first step.

    Raises:
        ValueError: an argument is out of range, or outages fill all of it.

    Source: what is between two incidents is one outage and one up-time.

    >>> up_time_mean(186.0, 0.0, 6.0)
    180.0
    """
    out = float(checked("d", d) + checked("r", r))
    mean = float(checked("between", between, positive=True)) - out
    if mean <= 0.0:
        raise ValueError(f"outages of {out:g} fill the time between incidents of {between:g}")
    return mean


def device_warning(m_h: float, accelerators: int | None) -> str | None:
    """Say so where a mean up-time looks like that of one device; None where it does not.

    Args:
        m_h: mean up-time given for the job, hours.
        accelerators: of the job; None where nobody said.

    >>> device_warning(50_000.0, 1024)
    'M of 50,000 h is that of a device rather than of a job: 1024 of them fail every 48.8 h'
    >>> device_warning(3.0, 16_384) is None
    True
    """
    if m_h < MTBF_OF_A_DEVICE_H or (accelerators is not None and accelerators < 2):
        return None
    start = f"M of {m_h:,.0f} h is that of a device rather than of a job"
    if accelerators is None:
        return f"{start}: say how many accelerators the job has"
    return f"{start}: {accelerators} of them fail every {m_h / accelerators:.3g} h"
