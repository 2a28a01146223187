"""Deciding: whom to pay and whom to use, proposed in a file that a person may change, and signs."""
