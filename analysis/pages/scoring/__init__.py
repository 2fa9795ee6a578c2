"""The parts of `analysis.pages.scoring.tables`: item scores, their statistics, comparisons, and the page about them."""
