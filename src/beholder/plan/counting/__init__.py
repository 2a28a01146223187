"""Counting: how even a plan came out."""
