"""The parts of `analysis.scores`: item scores, their statistics, comparisons, and the page about them."""
