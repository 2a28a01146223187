"""Close: stop recruiting, verify that nothing is unpaid, export, and say what the study came to."""
