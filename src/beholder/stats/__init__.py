"""Statistics by the formula: from numbers to numbers, without a word about ratings."""
