"""Messages: what a stimulus itself asks for, put into the middle of a copy of it.

message   what is said and how, and which medium can say it
card      words -> a dark card to be read, for a picture of some size
overlay   a card over the middle of a video, frame by frame
encode    a video again in its own codec, as near to the old one as it has to be
still     a card on a picture, a sentence in a text
spoken    words laid over a sound, or over the sound of a video (voice, mixing, loudness, numbers)
"""
