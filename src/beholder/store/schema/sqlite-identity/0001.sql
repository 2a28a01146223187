-- Who is who: the link from pseudonym to platform id, in a file of its own.

CREATE TABLE links (
  participant TEXT NOT NULL PRIMARY KEY,
  platform TEXT NOT NULL,
  platform_id TEXT NOT NULL
);
