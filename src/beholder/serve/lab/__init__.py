"""A laboratory: stations that wait for the next participant, and the operator who sees them all."""
