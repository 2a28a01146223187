"""Dealing: contents to lists and positions, conditions to trials and slots, evenly."""
