-- What was done about people and money. The same debt is owed once, and each leave to send a batch is used once.
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
-- What an entry says stays, and only whose it was may be taken out of it.
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

-- Which visits on a platform led to which sessions.
CREATE TABLE identity.comings (
  n BIGINT GENERATED ALWAYS AS IDENTITY,
  session TEXT NOT NULL,
  posting TEXT NOT NULL,
  submission TEXT NOT NULL,
  UNIQUE (session, posting, submission)
);
