"""Long simulations that say how far the statistics keep what they promise."""
