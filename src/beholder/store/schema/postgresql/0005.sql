-- An erasure also takes the device of a session; nothing else of it changes.
DROP TRIGGER sessions_stay ON sessions;
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
