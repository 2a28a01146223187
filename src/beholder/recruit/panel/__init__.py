"""A panel: people with personal links, or whom any platform sends that passes an id and takes a code."""
