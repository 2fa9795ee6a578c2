"""Import the runs of HELM."""
