"""Build a study of multiple-choice questions in several wordings: `waver choice build` (Choi, section 4).

Published questions pass filters, two models write each in other words, a judge answers all wordings in all orders, and
the questions stay about which it is right in some wordings only. `run choice --items` reads the study.
"""
