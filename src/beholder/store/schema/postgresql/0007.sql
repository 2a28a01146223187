-- The facts of one study. JSON is text, which keeps what JSONB would not (NUL escapes, order), and n keeps the order of insertion.

CREATE TABLE studies (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  digest TEXT NOT NULL PRIMARY KEY,
  plan_digest TEXT NOT NULL,
  study TEXT NOT NULL,
  yaml TEXT NOT NULL,
  software TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);

CREATE TABLE stimuli (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
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
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  plan_digest TEXT NOT NULL,
  list INTEGER NOT NULL,
  trials TEXT NOT NULL,
  PRIMARY KEY (plan_digest, list)
);

CREATE TABLE sessions (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL PRIMARY KEY,
  participant TEXT NOT NULL,
  digest TEXT NOT NULL REFERENCES studies (digest),
  run INTEGER NOT NULL,
  mode TEXT NOT NULL,
  visit INTEGER NOT NULL,
  device TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  UNIQUE (digest, run, mode, participant, visit)
);
CREATE INDEX sessions_participant ON sessions (participant);

CREATE TABLE claims (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session),
  list INTEGER NOT NULL,
  at TIMESTAMPTZ NOT NULL
);

-- Only the server knows what is private, such as the key of a plate.
CREATE TABLE posed (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  seed TEXT NOT NULL,
  public TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  private TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (session, key)
);

CREATE TABLE answers (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  answer TEXT NOT NULL,
  playback TEXT NOT NULL,
  shown_ms DOUBLE PRECISION NOT NULL,
  sent_ms DOUBLE PRECISION NOT NULL,
  input TEXT NOT NULL,
  tab TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (session, key)
);

CREATE TABLE events (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  tab TEXT NOT NULL,
  "from" BIGINT NOT NULL,
  events TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (session, key, tab, "from")
);

CREATE TABLE told (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL REFERENCES sessions (session),
  key TEXT NOT NULL,
  "check" TEXT NOT NULL,
  verdict TEXT NOT NULL,
  reason TEXT NOT NULL,
  evidence TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (session, key, "check")
);

CREATE TABLE ends (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session),
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  code TEXT NOT NULL,
  receipt TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);

CREATE TABLE erasures (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL PRIMARY KEY REFERENCES sessions (session),
  rows BIGINT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);

-- Visits that never went further and were removed: how many, of how many participants.
CREATE TABLE removals (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  run INTEGER NOT NULL,
  participants BIGINT NOT NULL,
  sessions BIGINT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);

-- Sessions in which nobody has answered, claimed a list, or come to an end: only these may go as a whole.
CREATE VIEW unanswered AS
SELECT session, participant, run, mode, visit, digest, device, at FROM sessions
WHERE NOT EXISTS (SELECT 1 FROM answers WHERE answers.session = sessions.session)
  AND NOT EXISTS (SELECT 1 FROM claims WHERE claims.session = sessions.session)
  AND NOT EXISTS (SELECT 1 FROM ends WHERE ends.session = sessions.session)
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.session = sessions.session);

-- Which lists are taken: until a lease expires, and for ever (infinity) once its session has finished. Rows may change.
CREATE TABLE leases (
  session TEXT NOT NULL PRIMARY KEY REFERENCES claims (session),
  until TIMESTAMPTZ NOT NULL,
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
  expires TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (plan_digest, population, list)
);
CREATE INDEX occupancy_order ON occupancy (plan_digest, population, sessions, list);
CREATE INDEX occupancy_expires ON occupancy (expires) WHERE expires <> 'infinity';

CREATE FUNCTION count_leases() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = 'force_generic_plan' AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    UPDATE occupancy SET sessions = sessions - 1
    WHERE plan_digest = OLD.plan_digest AND population = OLD.population AND list = OLD.list;
  ELSE
    UPDATE occupancy
    SET sessions = sessions + (TG_OP = 'INSERT')::integer, expires = least(expires, NEW.until)
    WHERE plan_digest = NEW.plan_digest AND population = NEW.population AND list = NEW.list;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER leases_count AFTER INSERT OR DELETE ON leases FOR EACH ROW EXECUTE FUNCTION count_leases();
CREATE TRIGGER leases_shorten AFTER UPDATE ON leases FOR EACH ROW
WHEN (NEW.until < OLD.until) EXECUTE FUNCTION count_leases();

-- The rows of all lists of a plan for one population, those that are missing.
CREATE FUNCTION add_occupancy(whose_plan TEXT, whose TEXT) RETURNS void
LANGUAGE sql SET search_path FROM CURRENT AS $$
  INSERT INTO occupancy (plan_digest, population, list, sessions, expires)
  SELECT whose_plan, whose, number, count(leases.session), coalesce(min(until), 'infinity')
  FROM generate_series(1, (SELECT max(list) FROM lists WHERE plan_digest = whose_plan)) AS number
  LEFT JOIN leases ON leases.plan_digest = whose_plan AND leases.population = whose AND leases.list = number
  GROUP BY number
  ON CONFLICT DO NOTHING
$$;

-- Leases that have run out end. One sweep at a time, and it waits for no row: what is locked is changing just now.
CREATE FUNCTION sweep_leases(moment TIMESTAMPTZ) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
  due RECORD;
BEGIN
  PERFORM pg_advisory_xact_lock(x'BE408'::bigint);
  FOR due IN
    SELECT plan_digest, population, list FROM occupancy
    WHERE expires <= moment AND expires <> 'infinity'
    FOR UPDATE SKIP LOCKED
  LOOP
    DELETE FROM leases WHERE session IN (
      SELECT session FROM leases
      WHERE plan_digest = due.plan_digest AND population = due.population AND list = due.list AND until <= moment
      FOR UPDATE SKIP LOCKED
    );
    UPDATE occupancy SET expires = (
      SELECT coalesce(min(until), 'infinity') FROM leases
      WHERE plan_digest = due.plan_digest AND population = due.population AND list = due.list
    )
    WHERE plan_digest = due.plan_digest AND population = due.population AND list = due.list;
  END LOOP;
END $$;

-- Claims of one server, each a JSON object, as if made one after the other. Claims of other servers that hold a row are
-- passed by where another list is as empty; only who holds nothing yet waits for one, so that no two wait for each other.
-- Outcomes: given, full, unknown, outdated; expired (sweep first) and later (ask again after this transaction).
-- One plan fits any values: without saying so, each connection would plan every statement anew for its first five claims.
CREATE FUNCTION claim_lists(requests JSONB, is_swept BOOLEAN)
RETURNS TABLE (outcome TEXT, number INTEGER) LANGUAGE plpgsql SET search_path FROM CURRENT
SET plan_cache_mode = 'force_generic_plan' AS $$
#variable_conflict use_column
DECLARE
  request RECORD;
  known RECORD;
  claimants TEXT[];
  the_plan TEXT;
  emptiest INTEGER;
  chosen INTEGER;
  plain RECORD;
  emptiest_lists INTEGER[] := '{}';
  is_holding BOOLEAN := false;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(x'BE402'::bigint);  -- no plan begins meanwhile
  claimants := ARRAY(SELECT item ->> 'session' FROM jsonb_array_elements(requests) AS item);
  PERFORM 1 FROM sessions WHERE session = ANY (claimants) ORDER BY session FOR NO KEY UPDATE;
  SELECT plan_digest INTO the_plan FROM studies WHERE digest = (SELECT value FROM meta WHERE name = 'digest');

  -- Several at once: sessions of one population without a list, which want any, get the emptiest lists in their order if
  -- there are enough of them. Otherwise what is locked now is given first, one after the other.
  SELECT count(DISTINCT items.session) AS size, min(per_list) AS per_list,
    min(CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END) AS population,
    count(DISTINCT items.session) > 1 AND count(DISTINCT items.session) = count(*)
      AND count(DISTINCT coalesce(per_list, -1)) = 1
      AND count(DISTINCT CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END) = 1
      AND bool_and(sessions.session IS NOT NULL AND plan_digest = the_plan AND claims.session IS NULL
        AND barred = '{}' AND preferred = '{}')
      AND (is_swept OR (SELECT min(expires) FROM occupancy WHERE expires <> 'infinity') > max(now)) IS NOT FALSE AS is_plain
  INTO plain
  FROM jsonb_to_recordset(requests) AS items (
    session TEXT, now TIMESTAMPTZ, per_list INTEGER, barred INTEGER[], preferred INTEGER[]
  )
  LEFT JOIN sessions ON sessions.session = items.session
  LEFT JOIN studies ON studies.digest = sessions.digest LEFT JOIN claims ON claims.session = items.session;
  IF plain.is_plain THEN
    SELECT sessions INTO emptiest FROM occupancy
    WHERE plan_digest = the_plan AND population = plain.population
      AND (plain.per_list IS NULL OR sessions < plain.per_list)
    ORDER BY sessions LIMIT 1;
    emptiest_lists := ARRAY(
      SELECT list FROM occupancy
      WHERE plan_digest = the_plan AND population = plain.population AND sessions = emptiest
      ORDER BY list LIMIT plain.size FOR UPDATE SKIP LOCKED
    );
    is_holding := cardinality(emptiest_lists) > 0;
    IF cardinality(emptiest_lists) = plain.size THEN
      INSERT INTO claims (session, list, at)
      SELECT session, emptiest_lists[place], now
      FROM ROWS FROM (jsonb_to_recordset(requests) AS (session TEXT, now TIMESTAMPTZ)) WITH ORDINALITY
        AS items (session, now, place)
      ORDER BY place;
      INSERT INTO leases (session, until, plan_digest, population, list)
      SELECT session, until, the_plan, plain.population, emptiest_lists[place]
      FROM ROWS FROM (jsonb_to_recordset(requests) AS (session TEXT, until TIMESTAMPTZ)) WITH ORDINALITY
        AS items (session, until, place)
      WHERE NOT EXISTS (SELECT 1 FROM ends WHERE ends.session = items.session)
        AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.session = items.session)
      ORDER BY place;
      RETURN QUERY SELECT 'given', given FROM unnest(emptiest_lists) WITH ORDINALITY AS lists (given, place) ORDER BY place;
      RETURN;
    END IF;
  END IF;

  FOR request IN
    SELECT * FROM jsonb_to_recordset(requests) AS items (
      session TEXT, now TIMESTAMPTZ, until TIMESTAMPTZ, per_list INTEGER, barred INTEGER[], preferred INTEGER[]
    )
  LOOP
    SELECT plan_digest, claims.list, CASE WHEN mode IN ('robot', 'preview') THEN mode ELSE 'people' END AS population
    INTO known
    FROM sessions JOIN studies USING (digest) LEFT JOIN claims USING (session) WHERE session = request.session;
    chosen := known.list;
    outcome := CASE
      WHEN known.plan_digest IS NULL THEN 'unknown'
      WHEN chosen IS NOT NULL THEN 'given'
      WHEN known.plan_digest <> the_plan THEN 'outdated'
      -- The least, which the index has at hand; of a comparison the planner takes a third of all rows for granted.
      WHEN NOT is_swept AND (SELECT min(expires) FROM occupancy WHERE expires <> 'infinity') <= request.now THEN 'expired'
    END;
    WHILE outcome IS NULL LOOP
      SELECT sessions INTO emptiest FROM occupancy
      WHERE plan_digest = the_plan AND population = known.population AND NOT list = ANY (request.barred)
        AND (request.per_list IS NULL OR sessions < request.per_list)
      ORDER BY sessions LIMIT 1;
      IF NOT FOUND THEN
        IF NOT EXISTS (SELECT 1 FROM occupancy WHERE plan_digest = the_plan AND population = known.population) THEN
          PERFORM add_occupancy(the_plan, known.population);
          CONTINUE WHEN EXISTS (
            SELECT 1 FROM occupancy WHERE plan_digest = the_plan AND population = known.population
          );
        END IF;
        outcome := 'full';
        EXIT;
      END IF;
      IF request.preferred <> '{}' THEN
        SELECT list INTO chosen FROM occupancy
        WHERE plan_digest = the_plan AND population = known.population AND sessions = emptiest
          AND list = ANY (request.preferred) AND NOT list = ANY (request.barred)
        ORDER BY list LIMIT 1 FOR UPDATE SKIP LOCKED;
      END IF;
      IF chosen IS NULL THEN
        SELECT list INTO chosen FROM occupancy
        WHERE plan_digest = the_plan AND population = known.population AND sessions = emptiest
          AND NOT list = ANY (request.barred)
        ORDER BY list LIMIT 1 FOR UPDATE SKIP LOCKED;
      END IF;
      IF chosen IS NOT NULL THEN
        INSERT INTO claims (session, list, at) VALUES (request.session, chosen, request.now);
        outcome := 'given';
      ELSIF is_holding THEN
        outcome := 'later';
      ELSE  -- all lists as empty as that are being claimed: they may still come free
        PERFORM 1 FROM occupancy
        WHERE plan_digest = the_plan AND population = known.population AND sessions = emptiest
          AND NOT list = ANY (request.barred)
        ORDER BY list LIMIT 1 FOR UPDATE;
      END IF;
    END LOOP;
    IF outcome = 'given' THEN
      is_holding := true;
      INSERT INTO leases (session, until, plan_digest, population, list)
      SELECT request.session, request.until, known.plan_digest, known.population, chosen
      WHERE NOT EXISTS (SELECT 1 FROM ends WHERE session = request.session)
        AND NOT EXISTS (SELECT 1 FROM erasures WHERE session = request.session)
      ON CONFLICT (session) DO UPDATE SET until = excluded.until WHERE leases.until < 'infinity';
    END IF;
    number := chosen;
    RETURN NEXT;
  END LOOP;
END $$;

-- Append-only: nothing is changed, and only an erasure takes facts away.
CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'facts are append-only' USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE FUNCTION keep_unless_erased() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
    AND NOT EXISTS (SELECT 1 FROM unanswered WHERE session = OLD.session) THEN
    RAISE EXCEPTION 'facts are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;

CREATE FUNCTION keep_unless_unanswered() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NOT EXISTS (SELECT 1 FROM unanswered WHERE session = OLD.session) THEN
    RAISE EXCEPTION 'facts are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER studies_stay BEFORE UPDATE OR TRUNCATE ON studies FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER stimuli_stay BEFORE UPDATE OR TRUNCATE ON stimuli FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER lists_stay BEFORE UPDATE OR TRUNCATE ON lists FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER claims_stay BEFORE UPDATE OR TRUNCATE ON claims FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER posed_stay BEFORE UPDATE OR TRUNCATE ON posed FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER answers_stay BEFORE UPDATE OR TRUNCATE ON answers FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER events_stay BEFORE UPDATE OR TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER told_stay BEFORE UPDATE OR TRUNCATE ON told FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER ends_stay BEFORE UPDATE OR TRUNCATE ON ends FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER erasures_stay BEFORE UPDATE OR TRUNCATE ON erasures FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER removals_stay BEFORE UPDATE OR TRUNCATE ON removals FOR EACH STATEMENT EXECUTE FUNCTION keep();
-- An erasure also takes the device of a session; nothing else of it changes.
CREATE FUNCTION keep_session() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
  IF NEW.device <> '{}' OR NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
    OR (NEW.n, NEW.session, NEW.participant, NEW.digest, NEW.run, NEW.mode, NEW.visit, NEW.at)
      IS DISTINCT FROM (OLD.n, OLD.session, OLD.participant, OLD.digest, OLD.run, OLD.mode, OLD.visit, OLD.at) THEN
    RAISE EXCEPTION 'facts are append-only' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER sessions_stay BEFORE UPDATE ON sessions FOR EACH ROW EXECUTE FUNCTION keep_session();
CREATE TRIGGER sessions_whole BEFORE TRUNCATE ON sessions FOR EACH STATEMENT EXECUTE FUNCTION keep();

CREATE TRIGGER studies_kept BEFORE DELETE ON studies FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER stimuli_kept BEFORE DELETE ON stimuli FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER lists_kept BEFORE DELETE ON lists FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER sessions_kept BEFORE DELETE ON sessions FOR EACH ROW EXECUTE FUNCTION keep_unless_unanswered();
CREATE TRIGGER claims_kept BEFORE DELETE ON claims FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER posed_kept BEFORE DELETE ON posed FOR EACH ROW EXECUTE FUNCTION keep_unless_erased();
CREATE TRIGGER answers_kept BEFORE DELETE ON answers FOR EACH ROW EXECUTE FUNCTION keep_unless_erased();
CREATE TRIGGER events_kept BEFORE DELETE ON events FOR EACH ROW EXECUTE FUNCTION keep_unless_erased();
CREATE TRIGGER told_kept BEFORE DELETE ON told FOR EACH ROW EXECUTE FUNCTION keep_unless_erased();
CREATE TRIGGER ends_kept BEFORE DELETE ON ends FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER erasures_kept BEFORE DELETE ON erasures FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER removals_kept BEFORE DELETE ON removals FOR EACH STATEMENT EXECUTE FUNCTION keep();

-- The end of a session settles its lease, an erasure ends it.
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

-- Actions on people and money. The same debt is owed once, and each permission to send a batch is used once.
CREATE TABLE ledger (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  entry BIGINT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  event TEXT NOT NULL,
  submission TEXT NOT NULL,
  participant TEXT NOT NULL,
  session TEXT NOT NULL,
  amount_minor BIGINT NOT NULL,
  currency TEXT NOT NULL,
  reason_code TEXT NOT NULL,
  reason_text TEXT NOT NULL,
  batch TEXT NOT NULL,
  provider_ref TEXT NOT NULL,
  evidence TEXT NOT NULL,
  at TIMESTAMPTZ NOT NULL
);
CREATE UNIQUE INDEX ledger_planned ON ledger (kind, submission, reason_code)
WHERE event = 'planned' AND submission <> '';
CREATE UNIQUE INDEX ledger_sent ON ledger (kind, batch, reason_code) WHERE event = 'pay_sent';
CREATE TRIGGER ledger_stay BEFORE TRUNCATE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION keep();
CREATE TRIGGER ledger_kept BEFORE DELETE ON ledger FOR EACH STATEMENT EXECUTE FUNCTION keep();
-- Entries do not change, except that identities may be removed from them.
CREATE TRIGGER ledger_said BEFORE UPDATE ON ledger FOR EACH ROW
WHEN (
  NEW.n <> OLD.n OR NEW.entry <> OLD.entry OR NEW.kind <> OLD.kind OR NEW.event <> OLD.event
  OR NEW.amount_minor <> OLD.amount_minor
  OR NEW.currency <> OLD.currency OR NEW.batch <> OLD.batch OR NEW.provider_ref <> OLD.provider_ref OR NEW.at <> OLD.at
  OR NEW.submission NOT IN (OLD.submission, '') OR NEW.participant NOT IN (OLD.participant, '')
  OR NEW.session NOT IN (OLD.session, '') OR NEW.reason_text NOT IN (OLD.reason_text, '')
  OR (NEW.reason_code <> OLD.reason_code AND OLD.reason_code NOT LIKE 'session:%')
  OR (NEW.evidence <> OLD.evidence AND OLD.kind <> 'decisions')
) EXECUTE FUNCTION keep();

-- Identities, apart from the facts: grant this schema to nobody but the account that recruits.
CREATE SCHEMA identity;
REVOKE ALL ON SCHEMA identity FROM PUBLIC;

CREATE TABLE identity.links (
  participant TEXT NOT NULL PRIMARY KEY,
  platform TEXT NOT NULL,
  platform_id TEXT NOT NULL
);

-- Which visits on a platform led to which sessions.
CREATE TABLE identity.comings (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL,
  posting TEXT NOT NULL,
  submission TEXT NOT NULL,
  UNIQUE (session, posting, submission)
);

-- Statistics hold values of columns, in a table of the database that no erasure reaches.
ALTER TABLE sessions ALTER device SET STATISTICS 0;
ALTER TABLE posed ALTER seed SET STATISTICS 0, ALTER public SET STATISTICS 0, ALTER private SET STATISTICS 0;
ALTER TABLE answers ALTER answer SET STATISTICS 0, ALTER playback SET STATISTICS 0, ALTER tab SET STATISTICS 0;
ALTER TABLE events ALTER events SET STATISTICS 0, ALTER tab SET STATISTICS 0;
ALTER TABLE told ALTER reason SET STATISTICS 0, ALTER evidence SET STATISTICS 0;
ALTER TABLE ledger ALTER submission SET STATISTICS 0, ALTER reason_text SET STATISTICS 0, ALTER evidence SET STATISTICS 0;
ALTER TABLE identity.links ALTER platform_id SET STATISTICS 0;
ALTER TABLE identity.comings ALTER posting SET STATISTICS 0, ALTER submission SET STATISTICS 0;
ALTER TABLE meta ALTER value SET STATISTICS 0;
