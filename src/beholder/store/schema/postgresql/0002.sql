-- What only the server knows of an attempt: the key of a plate, the count of the tones.
ALTER TABLE posed ADD COLUMN private TEXT NOT NULL DEFAULT '{}';
