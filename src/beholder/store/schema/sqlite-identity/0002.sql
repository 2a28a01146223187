-- Identities, in a file of their own: pseudonyms with platform ids, and which visit on a platform led to which session.

CREATE TABLE links (
  participant TEXT NOT NULL PRIMARY KEY,
  platform TEXT NOT NULL,
  platform_id TEXT NOT NULL
);

CREATE TABLE comings (
  session TEXT NOT NULL,
  posting TEXT NOT NULL,
  submission TEXT NOT NULL,
  UNIQUE (session, posting, submission)
);
