"""Data quality: what to look at before anything is concluded."""
