-- Which visits on a platform led to which sessions.

CREATE TABLE comings (
  session TEXT NOT NULL,
  posting TEXT NOT NULL,
  submission TEXT NOT NULL,
  UNIQUE (session, posting, submission)
);
