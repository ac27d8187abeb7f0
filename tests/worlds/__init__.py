"""Random worlds: what the command line says of a made-up world, beside what happened in it."""
