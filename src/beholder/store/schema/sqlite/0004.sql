-- An erasure also takes the device of a session; nothing else of it changes.
DROP TRIGGER sessions_stay;
CREATE TRIGGER sessions_stay BEFORE UPDATE ON sessions
WHEN NEW.device <> '{}' OR NOT EXISTS (SELECT 1 FROM erasures WHERE session = OLD.session)
  OR NEW.session <> OLD.session OR NEW.participant <> OLD.participant OR NEW.digest <> OLD.digest OR NEW.run <> OLD.run
  OR NEW.mode <> OLD.mode OR NEW.visit <> OLD.visit OR NEW.at <> OLD.at
BEGIN SELECT RAISE(ABORT, 'facts are append-only'); END;
