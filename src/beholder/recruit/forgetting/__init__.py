"""Forgetting: one person who asks for it, or everybody when the day has come."""
