"""Plots: one function for each kind of figure, from a table of results to an Altair chart."""
