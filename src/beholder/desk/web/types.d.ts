// What the documents of the desk hold, as its pages read them (beholder.desk.documents).

import type { Say } from "../../web/types";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Me {
  name: string;
  role: "owner" | "decider" | "viewer";
  scopes: string[];
  kind?: string;
  ends_at?: string;
}

export interface StepCount { key: string; title: string; reached: number; here: number; left: number; ended: number }
export interface CheckCount { check: string; title: string; met: number; failed: number; ended: number }
export interface Votes { name: string; finished: number; coming: number; planned: number }
export interface Monitor {
  study: string; title: string; run: number; mode: string; population: "people" | "robots"; at: string; link: string;
  people: number; arrived: number; here: number; present: number; completed: number; left: number;
  ended: { [outcome: string]: number };
  steps: StepCount[]; trials: StepCount[]; checks: CheckCount[];
  verified: number | null; unverified: number | null;
  lists: { planned: number; finished: number; coming: number };
  conditions: Votes[];
  minutes: number | null; durations: number[]; told_minutes: number | null; per_hour: number | null;
  finished_at: string | null;
  earned: {
    reward: string; hourly: string | null; platform_hourly: string | null; floor: string | null; top_up: string | null;
  } | null;
  cost: Cost | null;
  platform: { state: string; places: number; taken: number; statuses: { [status: string]: number } } | null;
  alarms: string[];
}
export interface Cost { paid: string; committed: string | null; budget: string | null }
export interface Cell { finished: number; coming: number; planned: number }
export interface Fill { contents: string[]; conditions: string[]; cells: (Cell | null)[][] }
export interface NowDocument { key: string; blinded: boolean; monitor: Monitor; fill: Fill }

export interface StudyLine {
  key: string; name: string; title: string; method: string; mode: string; run: number;
  population: "people" | "robots"; state: string; people: number; here: number; completed: number;
  lists: { finished: number; planned: number }; cost: Cost | null; finished_at: string | null; alarms: number;
  next: string;
}

export interface PersonRow {
  participant: string; mode: string; state: string; state_words: string; step: string; began: string; last: string;
  minutes: number | null; sessions: number; failed: number; unknown: number; accept: boolean | null; use: boolean;
  reasons: string[]; paid: string | null; verified: boolean | null; session_ids: string[];
}
export interface PeopleDocument {
  key: string; at: string; blinded: boolean; population: "people" | "robots"; all: number; total: number;
  offset: number; states: { state: string; words: string; n: number }[]; people: PersonRow[];
}
export interface VerdictShown {
  check: string; title: string; verdict: "pass" | "fail" | "unknown"; words: string; measured: Json; needed: Json;
  evidence: { [name: string]: Json };
}
export interface RatingShown {
  key: string; position: number; question: string; kind: string; content: string; condition: string;
  other: string | null; value: number | null; raw: number | null; low: number; high: number; missing: string | null;
  seconds: number; use: boolean; reasons: string[];
}
export interface VisitShown {
  session: string; run: number; began: string; ended: string | null; outcome: string | null; outcome_words: string;
  at: string; list: number | null; minutes: number | null; accept: boolean | null; use: boolean; reasons: string[];
  erased: boolean;
  steps: { key: string; title: string; at: string; seconds: number }[];
  device: { name: string; value: string | number }[];
  verdicts: VerdictShown[];
  answers: { place: string; question: string; answer: string }[];
  ratings: RatingShown[];
}
export interface PersonDocument extends PersonRow {
  key: string; blinded: boolean; newer: string | null; older: string | null;
  acts: { kind: string; at: string; session: string; reason: string; by: string }[];
  ledger: { what: string; event: string; at: string; amount: string | null; words: string }[];
  visits: VisitShown[];
}

export interface ReplaySlot {
  id: string; label: string | null; content: string | null; condition: string | null; role: string | null;
  medium: string; length_ms: number | null; media: string; rated: boolean;
}
export interface Play { slot: string; from_ms: number; to_ms: number; at: number; to: number; why: string }
export interface Span { from_ms: number; to_ms: number; slot?: string }
export interface ControlPath {
  question: string | null; slot: string | null; text: string;
  scale: { min: number; max: number; labels: [number, string][]; look: string } | null;
  path: [number, Json][];
}
export interface Moment { ms: number; kind: string; slot: string | null; data: { [name: string]: Json } }
export interface Timeline {
  key: string; title: string; length_ms: number; shown_at: string | null; answered_at: string | null;
  input: string | null; slots: ReplaySlot[]; plays: Play[]; stalls: Span[]; away: Span[]; full: Span[];
  controls: ControlPath[]; moments: Moment[]; other_tabs: number;
}
export interface ReplayDocument {
  key: string; blinded: boolean; participant: string; session: string; outcome: string | null; reasons: string[];
  began: string; erased: boolean;
  pages: {
    key: string; title: string; seconds: number; plays: number; stalls: number; blurs: number;
    least_watched: number | null;
  }[];
  page: Timeline | null;
}

export interface DecisionShown {
  submission: string; participant: string; sessions: string[]; outcome: string | null; status: string; code: string;
  proposed: string; pay: string; use: boolean; changed: boolean; words: string; reasons: string[];
  category: string | null; message: string; grounds: string[]; proposed_use: boolean;
  evidence: { session: string; title: string; verdict: string; words: string }[];
  signed: { by: string; at: string; pay: string } | null; unsigned: boolean;
}
export interface PaymentShown {
  lines: {
    kind: string; submission: string; participant: string; reason: string; what: string; amount: string; status: string;
    words: string;
  }[];
  words: string[]; owed: string | null; paid: string | null; is_unsigned: boolean; problems: string[];
}
export interface DecisionsDocument {
  key: string; blinded: boolean; mode: string; by_hand: boolean; problems: string[]; words: string[]; all: number;
  total: number; offset: number; counts: { [pay: string]: number }; reward: string | null; screen_out: string | null;
  shortest_message: number; seen: string; unsigned: number; rows: DecisionShown[]; payment: PaymentShown | null;
  list_waits: boolean; closed: string | null;
}

export interface ConditionMean { name: string; n?: number | null; mean: number | null; ci_low?: number | null; ci_high?: number | null }
export interface PairShown {
  first: string; second: string; estimate?: number | null; mean_difference?: number | null; ci_low?: number | null;
  ci_high?: number | null; p_holm?: number | null;
}
export interface ResultsDocument {
  key: string; blinded: boolean; open: boolean; finished: number; lists: number;
  unblinded: { at: string; by: string | null; reason: string }[];
  looks: { at: string; participants: number; command: string }[];
  report: boolean; report_waits: "names" | "end" | null; state: "none" | "interim" | "final"; words: string;
  population?: "people" | "robots"; intervals?: boolean; level?: number; look?: string | null; since?: number;
  questions: { id: string; text: string; metric: string; conditions: ConditionMean[]; pairs: PairShown[] }[];
}

export interface StudyDocument {
  key: string; blinded: boolean; name: string; title: string; method: string; file: string; text: string;
  problems: { kind: "error" | "warning"; where: string; what: string; allowed: string; fix: string }[];
  session: {
    minutes: number; lists: number; stimuli: number; conditions: number; contents: number;
    stages: { name: string; minutes: number; screens: number }[];
  } | null;
  plan: { balance: { [name: string]: string }[]; report: boolean } | null;
  served: { digest: string; at: string; lists: number } | null;
  storyboard: { name: string; pictures: { file: string; title: string }[] }[];
  steps: { key: string; title: string }[];
  preview: { link: string; command: string };
}

/** Where the desk is: a page of a study, with what its address names. */
export interface Place {
  page: string; study: string; person: string; session: string; query: URLSearchParams;
}
/** What every page gets. `go` opens another address of the desk; `announce` tells who cannot see; `signal` ends with the
 *  page. */
export interface Desk {
  me: Me; say: Say; place: Place; signal: AbortSignal;
  go(address: string, options?: { replace?: boolean }): void;
  announce(words: string): void;
  /** Tell everybody what was done, until the next page. */
  tell(words: string): void;
  /** Draw the page anew. */
  redraw(): void;
}
export type Page = (main: HTMLElement, desk: Desk) => Promise<void>;
