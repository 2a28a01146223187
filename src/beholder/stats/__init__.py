"""Statistics from arrays to numbers, independent of studies and ratings.

- `intervals`: Student's t, Korn and Graubard's interval of shares, effect sizes, Welch's t
- `tests`: signed rank and sign tests, Holm's and Benjamini and Hochberg's corrections, robust z
- `clustered`: means and differences with errors clustered by participant and content
- `additive`, `contrast_errors`: differences of conditions on all ratings, and their errors for two populations
- `mixed`, `crossed`, `runs`: linear mixed models, variance components, the effect of runs
- `correlation`, `regression`: agreement of two sets of scores, lines and dips
- `dimensions`: principal components, Cronbach's alpha, McDonald's omega
- `rater_models`, `shrinkage`: quality, bias and inconsistency from votes
- `reliability`: intraclass correlations, Krippendorff's alpha, Kendall's W, SOS
- `marked_times`: densities and peaks of moments that people mark, and their agreement
- `votes_needed`: agreement by the number of votes
"""
