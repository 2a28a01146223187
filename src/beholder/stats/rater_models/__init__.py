"""Models of raters: from votes to the quality of every stimulus, and to bias and inconsistency of every rater."""
