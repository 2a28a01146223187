-- Actions on people and money, in a file of their own: any process may append to it, also while a server runs.

CREATE TABLE ledger (
  entry INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  event TEXT NOT NULL,
  submission TEXT NOT NULL,
  participant TEXT NOT NULL,
  session TEXT NOT NULL,
  amount_minor INTEGER NOT NULL,
  currency TEXT NOT NULL,
  reason_code TEXT NOT NULL,
  reason_text TEXT NOT NULL,
  batch TEXT NOT NULL,
  provider_ref TEXT NOT NULL,
  evidence TEXT NOT NULL,
  at TEXT NOT NULL
);

-- The same debt is owed once, and each permission to send a batch is used once.
CREATE UNIQUE INDEX ledger_planned ON ledger (kind, submission, reason_code)
WHERE event = 'planned' AND submission <> '';
CREATE UNIQUE INDEX ledger_sent ON ledger (kind, batch, reason_code) WHERE event = 'pay_sent';

-- Entries do not change, except that identities may be removed from them.
CREATE TRIGGER ledger_stay BEFORE UPDATE ON ledger
WHEN NEW.entry <> OLD.entry OR NEW.kind <> OLD.kind OR NEW.event <> OLD.event OR NEW.amount_minor <> OLD.amount_minor
  OR NEW.currency <> OLD.currency OR NEW.batch <> OLD.batch OR NEW.provider_ref <> OLD.provider_ref OR NEW.at <> OLD.at
  OR NEW.submission NOT IN (OLD.submission, '') OR NEW.participant NOT IN (OLD.participant, '')
  OR NEW.session NOT IN (OLD.session, '') OR NEW.reason_text NOT IN (OLD.reason_text, '')
  OR (NEW.reason_code <> OLD.reason_code AND OLD.reason_code NOT LIKE 'session:%')
  OR (NEW.evidence <> OLD.evidence AND OLD.kind <> 'decisions')
BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER ledger_kept BEFORE DELETE ON ledger BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
