"""ckpt-audit: what interruptions and checkpoints cost a training run, from the logs a site has."""

__version__ = "0.1.0"
