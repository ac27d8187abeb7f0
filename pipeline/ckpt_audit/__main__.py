"""The program: ``ckpt-audit``, or ``python -m ckpt_audit``."""

import signal
import sys

from ckpt_audit import interrupts


def main() -> int:
    """Runs the command line; Ctrl-C ends it quietly already while its modules are loaded."""
    code = interrupts.run(_run)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done
    return code


def _run() -> int:
    from ckpt_audit.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
