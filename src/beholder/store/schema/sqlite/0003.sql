-- Whatever counts of a list in one small table: a lease until it runs out, and for ever once its session has finished.
-- A claim looks here, and not through the facts of everybody who ever came.
ALTER TABLE leases ADD COLUMN plan_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN population TEXT NOT NULL DEFAULT '';
ALTER TABLE leases ADD COLUMN list INTEGER NOT NULL DEFAULT 0;

DELETE FROM leases WHERE session IN (SELECT session FROM ends UNION SELECT session FROM erasures);
INSERT INTO leases (session, until)
SELECT session, '9999' FROM claims JOIN ends USING (session)
WHERE outcome = 'completed' AND session NOT IN (SELECT session FROM erasures);
UPDATE leases SET (plan_digest, population, list) = (
  SELECT plan_digest, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END, claims.list
  FROM claims JOIN sessions USING (session) JOIN studies USING (digest) WHERE claims.session = leases.session
);

CREATE INDEX leases_list ON leases (plan_digest, population, list, until);

CREATE TRIGGER ends_settle AFTER INSERT ON ends
WHEN NEW.outcome = 'completed' AND NOT EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session)
BEGIN
  INSERT OR REPLACE INTO leases (session, until, plan_digest, population, list)
  SELECT session, '9999', plan_digest, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END, list
  FROM claims JOIN sessions USING (session) JOIN studies USING (digest) WHERE session = NEW.session;
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
