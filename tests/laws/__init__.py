"""Laws that hold whatever the input: order, cuts, shifted clocks, growing files, sums."""
