"""Read items and their wordings from files and data sets of many kinds."""
