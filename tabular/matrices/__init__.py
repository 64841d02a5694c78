"""Transition matrices of PRAM: made from frequencies, made invariant, kept in files, and used to correct counts.

`matrix[i, j]` is the probability that category i of the original becomes category j.
"""
