"""Trials whose answer is known: what people practise on, and what is held against it."""
