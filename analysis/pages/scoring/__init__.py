"""Measure how models use a scale when they judge texts, and how well. Protocol `scoring`, Sato et al."""
