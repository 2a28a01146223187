"""Launch: check everything, quote, put up a draft, publish."""
