"""Write the run folder: Parquet parts that appear whole or not at all, locks, status."""
