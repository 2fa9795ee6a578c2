"""Test single numbers of a run against limits: columns of tables, and measures of models."""
