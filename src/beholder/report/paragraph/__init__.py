"""The methods paragraph, ready to paste, and the sources that it cites."""
