"""Asks language models the same question in many wordings; writes run folders."""
