"""Lists that are added to a plan that has begun."""
