"""Reconciling: what we have of a visit beside what its platform says, and what follows from both."""
