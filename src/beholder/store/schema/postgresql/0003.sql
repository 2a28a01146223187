-- Whatever counts of a list in one small table: a lease until it runs out, and for ever once its session has finished.
-- A claim looks here, and not through the facts of everybody who ever came.
ALTER TABLE leases
  ADD COLUMN plan_digest TEXT NOT NULL DEFAULT '',
  ADD COLUMN population TEXT NOT NULL DEFAULT '',
  ADD COLUMN list INTEGER NOT NULL DEFAULT 0;

DELETE FROM leases WHERE session IN (SELECT session FROM ends UNION SELECT session FROM erasures);
INSERT INTO leases (session, until)
SELECT session, 'infinity' FROM claims JOIN ends USING (session)
WHERE outcome = 'completed' AND session NOT IN (SELECT session FROM erasures);
UPDATE leases SET
  plan_digest = studies.plan_digest,
  population = CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END,
  list = claims.list
FROM claims JOIN sessions USING (session) JOIN studies USING (digest) WHERE claims.session = leases.session;

CREATE INDEX leases_list ON leases (plan_digest, population, list);

CREATE FUNCTION settle_lease() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.outcome = 'completed' AND NOT EXISTS (SELECT 1 FROM erasures WHERE session = NEW.session) THEN
    INSERT INTO leases (session, until, plan_digest, population, list)
    SELECT session, 'infinity', plan_digest, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END, list
    FROM claims JOIN sessions USING (session) JOIN studies USING (digest) WHERE session = NEW.session
    ON CONFLICT (session) DO UPDATE SET until = excluded.until;
  ELSE
    DELETE FROM leases WHERE session = NEW.session;
  END IF;
  RETURN NULL;
END $$;

CREATE FUNCTION drop_lease() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  DELETE FROM leases WHERE session = NEW.session;
  RETURN NULL;
END $$;

CREATE TRIGGER ends_settle AFTER INSERT ON ends FOR EACH ROW EXECUTE FUNCTION settle_lease();
CREATE TRIGGER erasures_settle AFTER INSERT ON erasures FOR EACH ROW EXECUTE FUNCTION drop_lease();
