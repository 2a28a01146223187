"""Stimuli: where they come from, what they hold, and the blind copies that participants get.

sources     folder, pattern or manifest -> what the researcher points at
fetching    https addresses -> media/cache
media       which suffix is which medium, and what is served
clip, sound, picture, prose     one medium each: measured, and copied for participants
probe       a file -> Probe, whatever its medium
stripping   a file -> the copy without metadata in media/
making      anchors that a study asks for by a recipe -> sources
ingest      Study -> Catalogue: all of the above, in parallel, remembered
blinding    a copy -> what one slot of one session gets, filled to the size class of its content
fillers     bytes without a meaning, by format
suspicions  what looks wrong in a catalogue, though it can be served
encoders    names of encoders that are left inside a copy
anchors     a reference without its high frequencies
workshop    anchors and stacks from the researcher's own files, for `beholder media`
samples     stimuli of every medium under degradations, for demos and new studies
"""
