"""Which features of a world come out right today: ``make test`` draws only these."""

from __future__ import annotations

from tests.world.draw import FEATURES

# Found by `python -m tests.worlds --all`; each is to leave this list as it is mended.
NOT_YET: frozenset[str] = frozenset()
# Values of an incident that are not compared yet, but by `--all`.
VALUES_NOT_YET: frozenset[str] = frozenset()

RIGHT_TODAY = frozenset(FEATURES) - NOT_YET

# With lost lines, what a value needs may be gone with the log that a requeue began anew, and a
# crash loop falls apart when its step numbers differ by the lines that are missing.
THINNED = RIGHT_TODAY - {"crash_loop", "truncate"}
HONEST = {0.01: 0.95, 0.1: 0.95}
