-- The facts of one study. Times are UTC ISO text, JSON is text, and rowid keeps the order of insertion.

CREATE TABLE studies (
  digest TEXT NOT NULL PRIMARY KEY,
  plan_digest TEXT NOT NULL,
  study TEXT NOT NULL,
  yaml TEXT NOT NULL,
  software TEXT NOT NULL,
  at TEXT NOT NULL
);

CREATE TABLE stimuli (
  digest TEXT NOT NULL REFERENCES studies (digest),
  stimulus TEXT NOT NULL,
  content TEXT NOT NULL,
  condition TEXT NOT NULL,
  role TEXT NOT NULL,
  medium TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  probe TEXT NOT NULL,
  factors TEXT NOT NULL,
  PRIMARY KEY (digest, stimulus)
);

CREATE TABLE lists (
  plan_digest TEXT NOT NULL,
  list INTEGER NOT NULL,
  trials TEXT NOT NULL,
  PRIMARY KEY (plan_digest, list)
);

CREATE TABLE sessions (
  session TEXT NOT NULL PRIMARY KEY,
  participant TEXT NOT NULL,
  digest TEXT NOT NULL REFERENCES studies (digest),
  run INTEGER NOT NULL,
  mode TEXT NOT NULL,
  visit INTEGER NOT NULL,
  device TEXT NOT NULL,
  at TEXT NOT NULL,
  UNIQUE (digest, run, mode, participant, visit)
);
CREATE INDEX sessions_participant ON sessions (participant);

CREATE TABLE claims (
  session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session),
  list INTEGER NOT NULL,
  at TEXT NOT NULL
);

-- Only the server knows what is private, such as the key of a plate.
CREATE TABLE posed (
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  seed TEXT NOT NULL,
  public TEXT NOT NULL,
  at TEXT NOT NULL,
  private TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (session, key)
);

CREATE TABLE answers (
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  answer TEXT NOT NULL,
  playback TEXT NOT NULL,
  shown_ms REAL NOT NULL,
  sent_ms REAL NOT NULL,
  input TEXT NOT NULL,
  tab TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session, key)
);

CREATE TABLE events (
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  tab TEXT NOT NULL,
  "from" INTEGER NOT NULL,
  events TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session, key, tab, "from")
);

CREATE TABLE told (
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  "check" TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  evidence TEXT NOT NULL,
  at TEXT NOT NULL,
  PRIMARY KEY (session, key, "check")
);

CREATE TABLE ends (
  session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session),
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  code TEXT NOT NULL,
  receipt TEXT NOT NULL,
  at TEXT NOT NULL
);

CREATE TABLE erasures (
  session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session),
  rows INTEGER NOT NULL,
  at TEXT NOT NULL
);

-- Visits that never went further and were removed: how many, of how many participants.
CREATE TABLE removals (
  run INTEGER NOT NULL,
  participants INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  at TEXT NOT NULL
);

-- Sessions in which nobody has answered, claimed a list, or come to an end: only these may go as a whole.
CREATE VIEW unanswered AS
SELECT session, participant, run, mode, visit, digest, device, at FROM sessions
WHERE NOT EXISTS (SELECT 1 FROM answers WHERE answers.session = sessions.session)
  AND NOT EXISTS (SELECT 1 FROM claims WHERE claims.session = sessions.session)
  AND NOT EXISTS (SELECT 1 FROM ends WHERE ends.session = sessions.session)
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.session = sessions.session);

-- Which lists are taken: until a lease expires, and for ever (9999) once its session has finished. Rows may change.
CREATE TABLE leases (
  session TEXT NOT NULL PRIMARY KEY REFERENCES claims (session),
  until TEXT NOT NULL,
  plan_digest TEXT NOT NULL DEFAULT '',
  population TEXT NOT NULL DEFAULT '',
  list INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX leases_list ON leases (plan_digest, population, list);

-- How many leases each list has, derived from them by triggers, so that a claim reads one row instead of all leases.
-- From expires on, leases may have run out; renewals do not touch it, so that it may be too early and never too late.
CREATE TABLE occupancy (
  plan_digest TEXT NOT NULL,
  population TEXT NOT NULL,
  list INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  expires TEXT NOT NULL,
  PRIMARY KEY (plan_digest, population, list)
) WITHOUT ROWID;
CREATE INDEX occupancy_order ON occupancy (plan_digest, population, sessions, list);
CREATE INDEX occupancy_expires ON occupancy (expires) WHERE expires <> '9999';
CREATE TRIGGER leases_count AFTER INSERT ON leases
BEGIN
  UPDATE occupancy SET sessions = sessions + 1, expires = min(expires, NEW.until)
  WHERE plan_digest = NEW.plan_digest AND population = NEW.population AND list = NEW.list;
END;
CREATE TRIGGER leases_uncount AFTER DELETE ON leases
BEGIN
  UPDATE occupancy SET sessions = sessions - 1
  WHERE plan_digest = OLD.plan_digest AND population = OLD.population AND list = OLD.list;
END;
CREATE TRIGGER leases_shorten AFTER UPDATE ON leases
WHEN NEW.until < OLD.until
BEGIN
  UPDATE occupancy SET expires = min(expires, NEW.until)
  WHERE plan_digest = NEW.plan_digest AND population = NEW.population AND list = NEW.list;
END;

-- Append-only: nothing is changed, and only an erasure takes facts away.
CREATE TRIGGER studies_stay BEFORE UPDATE ON studies BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER stimuli_stay BEFORE UPDATE ON stimuli BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER lists_stay BEFORE UPDATE ON lists BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER claims_stay BEFORE UPDATE ON claims BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER posed_stay BEFORE UPDATE ON posed BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER answers_stay BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER events_stay BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER told_stay BEFORE UPDATE ON told BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER ends_stay BEFORE UPDATE ON ends BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER erasures_stay BEFORE UPDATE ON erasures BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER removals_stay BEFORE UPDATE ON removals BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
-- An erasure also takes the device of a session; nothing else of it changes.
CREATE TRIGGER sessions_stay BEFORE UPDATE ON sessions
WHEN NEW.device <> '{}' OR NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
  OR NEW.session <> OLD.session OR NEW.participant <> OLD.participant OR NEW.digest <> OLD.digest OR NEW.run <> OLD.run
  OR NEW.mode <> OLD.mode OR NEW.visit <> OLD.visit OR NEW.at <> OLD.at
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;

CREATE TRIGGER studies_kept BEFORE DELETE ON studies BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER stimuli_kept BEFORE DELETE ON stimuli BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER lists_kept BEFORE DELETE ON lists BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER claims_kept BEFORE DELETE ON claims BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER ends_kept BEFORE DELETE ON ends BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER erasures_kept BEFORE DELETE ON erasures BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER removals_kept BEFORE DELETE ON removals BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER sessions_kept BEFORE DELETE ON sessions
WHEN NOT EXISTS (SELECT 1 FROM unanswered WHERE session = OLD.session)
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;

CREATE TRIGGER posed_kept BEFORE DELETE ON posed
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
  AND NOT EXISTS (SELECT 1 FROM unanswered WHERE session = OLD.session)
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER answers_kept BEFORE DELETE ON answers
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER events_kept BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
  AND NOT EXISTS (SELECT 1 FROM unanswered WHERE session = OLD.session)
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
CREATE TRIGGER told_kept BEFORE DELETE ON told
WHEN NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
  AND NOT EXISTS (SELECT 1 FROM unanswered WHERE session = OLD.session)
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;

-- A request that was under way when a person withdrew must not store facts.
CREATE TRIGGER posed_erased BEFORE INSERT ON posed
WHEN EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session)
BEGIN SELECT RAISE(ABORT, 'session is erased'); END;
CREATE TRIGGER answers_erased BEFORE INSERT ON answers
WHEN EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session)
BEGIN SELECT RAISE(ABORT, 'session is erased'); END;
CREATE TRIGGER events_erased BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session)
BEGIN SELECT RAISE(ABORT, 'session is erased'); END;
CREATE TRIGGER told_erased BEFORE INSERT ON told
WHEN EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session)
BEGIN SELECT RAISE(ABORT, 'session is erased'); END;

-- The end of a session settles its lease, an erasure ends it.
CREATE TRIGGER ends_settle AFTER INSERT ON ends
WHEN NEW.outcome = 'completed' AND NOT EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session)
BEGIN
  INSERT INTO leases (session, until, plan_digest, population, list)
  SELECT session, '9999', plan_digest, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END, list
  FROM claims JOIN sessions USING (session) JOIN studies USING (digest) WHERE session = NEW.session
  ON CONFLICT (session) DO UPDATE SET until = excluded.until;
END;
CREATE TRIGGER ends_drop AFTER INSERT ON ends
WHEN NEW.outcome <> 'completed'
BEGIN
  DELETE FROM leases WHERE session = NEW.session;
END;
CREATE TRIGGER erasures_settle AFTER INSERT ON erasures
BEGIN
  DELETE FROM leases WHERE session = NEW.session;
END;
