"""Compute what rating scales need beyond means: consistency of scales, distances of answer distributions, people.

- `consistency`: Cronbach's alpha with its interval, total omega of one factor;
- `distances`: how far two distributions over ordered options lie apart;
- `people`: distances of models to people, net of chance, and what two halves of the people reach.
"""
