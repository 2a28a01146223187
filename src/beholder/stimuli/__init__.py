"""Stimuli: where they come from, what they hold, and the blind copies that participants get.

sources     folder, pattern or manifest -> what the researcher points at
fetching    https addresses -> media/cache
probe       a file -> Probe, by ffmpeg
stripping   a file -> the copy without metadata in media/
ingest      Study -> Catalogue: all of the above, in parallel, remembered
blinding    a copy -> what one slot of one session gets, filled to the size class of its content
encoders    names of encoders that are left inside a copy
samples     an animated figure under degradations, for demos and new studies
"""
