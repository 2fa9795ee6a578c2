"""Reads run folders; pure functions, frame in, tidy frame out."""
