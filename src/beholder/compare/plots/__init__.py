"""The figures of comparisons."""
