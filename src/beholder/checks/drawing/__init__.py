"""What checks show and play, drawn for one attempt from its private part."""
