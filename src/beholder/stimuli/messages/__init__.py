"""Messages: what a stimulus itself asks for, inserted into the middle of a copy.

message   the words, which medium can carry them, and numbers that sound alike
card      a dark card with words on an image; a sentence in a text
overlay   a card over the middle of a video, encoded in its own codec
speech    speech synthesis, and spoken messages in sounds and videos
mixing    speech mixed into a sound that stays as loud as it was
"""
