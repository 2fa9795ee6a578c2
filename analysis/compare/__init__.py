"""Compare two sets of runs of the same items: `waver compare A B`."""
