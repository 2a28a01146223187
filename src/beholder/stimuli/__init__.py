"""Stimuli: where they come from, what they hold, and the blind copies that participants get.

sources, manifest           folders, patterns and manifests: the files that a researcher points at
known_answers               expected answers of training, gold, trap and attention stimuli
ingestion, catalogue        study -> catalogue: every file measured and copied once
formats                     suffixes, media, and the formats that are served
video, audio, image, text   one medium each: measured, and copied for participants
probe, copies               the same for a file of any medium
streams, ffmpeg             running ffmpeg, and reading its log
blinding                    a copy, filled up for one slot so that its size and hash tell nothing
warnings                    what looks wrong in a catalogue, though it can be served
anchors, pcm, loudness      anchors made by a recipe; decoded sound; loudness in LUFS
companions                  stimuli with the speech or the text of another content
messages, message_stimuli   stimuli that ask for an answer themselves
workshop                    `beholder media`: files made of the researcher's own files
samples                     sample stimuli of every medium, for demos and new studies
"""
