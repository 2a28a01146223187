// The shapes that the server sends and the views return. Checked by `tsc --noEmit`; never served as code.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** [ms since the step was shown, kind, slot or null, data] */
export type Event = [number, EventKind, string | null, Json];
export type EventKind =
  | "shown" | "load" | "play" | "pause" | "ended" | "seek" | "rate" | "stall" | "error" | "frames"
  | "fullscreen" | "visibility" | "focus" | "change" | "key" | "click" | "press" | "measure" | "view";

/** Words of the study: plain, or with marks. As a child of an element they become nodes, as an attribute plain text. */
export type Words = string | { mark: "strong" | "em" | "code"; words: Words } | Words[];
export interface Scale { min: number; max: number; step: number; labels: [number, Words][]; look: "slider" | "radio";
  /** Where its numbers are shown; left out: below each slider, and where categories have no words. */
  numbers?: "none" | "handle" | "ticks" | "both";
}
export interface Asked { id: string; text: Words; scale: Scale; ticks: Words[] /* in place of the scale */ }
/** `ms`: how long it plays; an image or a text: how long it has to be in view. `sound`: whether it can be heard. */
export interface Media {
  url: string; medium: "video" | "audio" | "image" | "text"; sound: boolean; bytes: number; ms: number; width: number; height: number;
  /** Where a bucket has it, for a while; `url` leads there afterwards, too. */
  signed?: string;
}
export interface Slot { id: string; label: string | null; colour: string | null; rated: boolean; media: Media }
export interface Playback {
  watch: "whole" | "start" | "none"; switching: "restart" | "keep"; size: string; fullscreen: boolean; max_plays: number | null;
  loop: "off" | "after-first" | "region"; sound: "on" | "off"; skip: boolean;
  /** What counts as watched whole: this share and the last so many milliseconds; positions may run so much faster than the
   *  clock, and so much ahead of it; of what is played several times each play has this share. */
  whole: { share: number; last_ms: number; fastest: number; slack_ms: number; each: number };
}
export interface Trial {
  asked: Asked[]; slots: Slot[]; playback: Playback; extra: { [key: string]: Json };
  /** All slots play at once, side by side, on one clock. */
  together: boolean;
  /** How often every slot has to be played before the answer. */
  passes: number;
  /** Another device shows it; the media have no address then. */
  stage?: "separate";
  /** Whose sound the line of time draws: the reference, or all of them together. */
  waveform?: string[];
}

/** How a separate stage is. `press`: somebody has to press a button there first. */
export type StageState = "loading" | "ready" | "press" | "playing" | "over" | "stopped" | "failed" | "left";
/** What is to be played on a separate stage; numbered from 1 in each trial. */
export interface StageOrder { number: number; slots: string[]; gap: number; passes: number }
/** What a separate stage tells: new events, the last of them its state; none where it only asks. */
export interface StageReport { key: string | null; page: string; from: number; events: Json[][] | unknown[] }
export interface StageTold { ended: boolean; key: string | null; trial: Trial | null; order: StageOrder | null }
/** A code by which a device becomes the stage; `qr`: rows of 0 and 1. */
export interface StageCode { text: string; address: string; qr: string[]; seconds: number }
/** What was watched of a slot on a separate stage, as the server counts it. */
export interface SeenSlot { watched: boolean; share: number; begun: number; whole: number; failure: string | null }
/** What the page that asks knows of its stage. `number`: which device; `page`: how many pages of it there were in this
 *  trial; `order`: the last one given, and the last one taken up. */
export interface HandSetState {
  code: StageCode | null; order: number; slots: { [slot: string]: SeenSlot };
  stage: {
    number: number; screen: [number, number] | null; is: StageState | null; order: number | null; page: number; here: boolean;
  } | null;
}

export interface Item {
  id: string; text: string /* safe HTML */; type: string /* its entry in steps/questions.js draws it */;
  options: Words[]; required: boolean; placeholder: string | null; min: number | null; max: number | null;
  when?: Comparison[]; slot?: string /* of the trial, which shows its file */; play?: boolean;
}
/** With an answer above on the same page: the item is asked where it holds. */
export interface Comparison { question: string; sign: "=" | "!=" | "<" | "<=" | ">" | ">=" | "has" | "lacks"; value: Json }

interface StepBase { key: string; progress: [number, number]; prefetch: Media[]; instructions?: string /* safe HTML */ }
/** `needs`: what the study needs of people and devices, a line each. `checks`: how long looking at that takes, and whether
 *  it takes eyes, ears, or both; null where nothing is looked at. */
export interface ConsentStep extends StepBase {
  kind: "consent"; text: string /* safe HTML */; needs?: string[];
  checks?: { minutes: number; senses: "eyes" | "ears" | "both" | null } | null;
}
/** What was found in the attempt before this one, and how many attempts are left, this one among them. */
export interface Told { text: Words; left: number }
/** One attempt at a check. `public` is the check's own; `media` are what was drawn for this attempt, by name; `words`
 *  are ours about this check; `gate`: it has to be passed; `list`: how far the look at the device is. */
export interface CheckStep extends StepBase {
  kind: "check"; check: string; attempt: number; gate: boolean; told: Told | null;
  public: { [key: string]: any }; media: { [name: string]: { url: string } };
  words: { [key: string]: string | { [form: string]: string } };
  list: ListRow[];
}
/** A row of the look at the device. `attention`: it is told, and the person may go on. */
export interface ListRow {
  name: string; title: string; text: Words;
  state: "pass" | "fail" | "attention" | "unknown" | "now" | "todo";
}
/** What the `page.js` of a check exports: shows one attempt and resolves with the answer. `page.say` knows its words. */
export type CheckPage = (step: CheckStep, page: import("./run.js").Page) => Promise<Json>;
/** A page of the instructions. With examples: a trial that asks nothing, and a caption for each of its slots. */
export interface TextStep extends StepBase { kind: "text"; text: string; trial?: Trial; captions?: Words[] }
export interface BreakStep extends StepBase { kind: "break"; text: string }
/** `trial`: what items show beside their words; it asks nothing. */
export interface QuestionsStep extends StepBase { kind: "questions"; items: Item[]; trial?: Trial }
/** Set the volume of the device with a test sound. */
export interface VolumeStep extends StepBase { kind: "volume" }
/** `reminder`: what the study wants to be kept in mind, as safe HTML. `training`: which practice this is, of how many, and what it stands for on the scale; not there once people rate.
 *  `told`: a word on the answer before, where the same trial comes again. */
export interface TrialStep extends StepBase {
  kind: "trial"; method: string; trial: Trial; reminder?: string;
  training?: { place: number; total: number; anchor: Words | null }; told?: Told | null;
}
export interface EndStep extends StepBase {
  kind: "end"; outcome: string; text: string; code: string | null; return_url: string | null; receipt: string | null;
  answers: number; seconds: number | null; ended_at: string | null; again: Offer | null;
  return_after?: number; result?: CrowdResult;
}
/** How the person compares with the others so far. `agreement`: of 100 comparisons; null of too few. `rows`: own rating and
 *  the mean of the others. */
export interface CrowdResult {
  agreement?: number | null;
  questions?: { text: Words; min: number; max: number; compared: boolean; rows: [number, number][] }[];
}
/** Another session. `url` is null where it is a visit of its own; `bonus`: from how many sessions on, and how much more
 *  each earns; `before_return`: returning to the platform ends the visit. */
export interface Offer {
  url: string | null; minutes: number; number: number; of: number; earns: string | null; bonus: [number, string] | null;
  before_return: boolean;
}
export type Step = ConsentStep | TextStep | VolumeStep | BreakStep | CheckStep | QuestionsStep | TrialStep | EndStep;

/** A language of the study, by the name that its speakers know. */
export interface Tongue {
  code: string; name: string; direction: "ltr" | "rtl";
}

/** What POST /api/arrive returns. */
export interface Arrival {
  token: string; link: string; step: Step;
  study: {
    name: string; title: string; language: string;
    languages: Tongue[]; language_from: string; contact: string | null; instructions: string /* safe HTML */;
    presses: boolean /* whether a check of the study looks at how the page is operated */;
  };
  preview: { steps: { key: string; label: string }[] } | null;
  /** What was half done on this page, perhaps on another device. */
  draft: KeptDraft | null;
}

/** A station of a laboratory. `seat` and `resume`: by what its participant comes, or comes back; for the station only. */
export interface Station {
  station: number; number: number | null; state: "free" | "ready" | "under_way" | "ended"; previous: number | null;
  outcome?: string | null; kind?: string | null; place?: [number, number] | null; minutes?: number | null;
  seat?: string | null; resume?: string | null;
}
/** What GET /api/lab returns: all that the operator sees. */
export interface Laboratory {
  title: string; completed: number; lists: number; finished: number; stations: Station[]; addresses: string[];
}

/** What PUT /api/answers/{key} returns once the answer is stored. */
export interface Stored { stored_at: string; feedback: Words | null; step: Step }

/** What PUT /api/answers/{key} gets: `events` is the whole log of the step, `from` how many of them went before. */
export interface AnswerBody {
  answer: Json; events: Event[]; from: number; tab: string; shown_ms: number; sent_ms: number; input: "mouse" | "touch" | "keyboard";
}
/** What POST /api/events gets. */
export interface Batch { key: string; tab: string; from: number; events: Event[]; draft?: Omit<KeptDraft, "key" | "events"> }
/** What is half done on the page of a step; of two, the higher revision is newer. */
export interface KeptDraft {
  key: string; revision: number; shown_ms: number; values: Record<string, Json>; events: Event[];
}

// ---- Views: what a method's `view.js` gets and gives -------------------------------------------------------------

/** question -> slot -> value */
export type Scores = { [question: string]: { [slot: string]: number } };
/** slot -> why it has no value */
export type Missing = { [slot: string]: "media_error" };
/** question -> which one, by slot; "tie" has no grade; an order has groups of slots, the best first */
export type Choices = { [question: string]: { better: string; grade?: number } | { same_as: string } | { best: string; worst: string } | { order: string[][] } };
/** question -> slot -> places of what was ticked */
export type Ticks = { [question: string]: { [slot: string]: number[] } };
/** question -> places of the marked words; `none`: none of them is the answer */
export type Picks = { [question: string]: { words: number[]; none: boolean } };
/** Where something was marked while it played. */
export type Mark = { slot: string; ms: number; label: string };
/** question -> slot -> what was typed; empty where nothing was understood */
export type Texts = { [question: string]: { [slot: string]: string } };
export type Answer = {
  scores?: Scores; choices?: Choices; ticks?: Ticks; picks?: Picks; texts?: Texts; missing?: Missing; marks?: Mark[]; reasons?: { [question: string]: string[] }; comment?: string;
} & { [key: string]: Json | undefined };
export type View = (trial: Trial, stage: Stage) => Promise<Answer>;

export type Child = Node | Words | number | null | undefined | false | Child[];
export interface Attributes {
  on?: { [event: string]: (event: any) => void };
  vars?: { [name: string]: string | number };
  [name: string]: unknown;
}
export type IconName =
  | "play" | "pause" | "replay" | "tick" | "offline" | "copy" | "help" | "down" | "attention" | "back" | "sound" | "loop";
export type Say = (key: string, values?: { [name: string]: Words | number }) => string;
export type MakeElement = <T extends keyof HTMLElementTagNameMap>(
  tag: T, attributes?: Attributes, ...children: Child[]
) => HTMLElementTagNameMap[T];

/** One key of the keyboard. `keys` are values of KeyboardEvent.key in lower case. */
export interface Binding { keys: string[]; shown: string; label: string; run(key: string): void }

/** One track per slot (video element, decoded sound, image, text), ready; exactly one plays, or all of them together. */
export interface Player {
  readonly current: string | null;
  readonly isPlaying: boolean;
  /** Play a slot from where `playback.switching` says, stopping any other. Resolves whether it started. */
  play(slot: string): Promise<boolean>;
  /** Play a slot from its beginning; `isOnce`: without the loop that may follow. */
  restart(slot: string, options?: { isOnce?: boolean }): Promise<boolean>;
  /** Play several slots from their beginning at once, on one clock; `sound` names the one that is heard. Resolves
   *  whether they started; `ended` is told when all have. The largest distance between their clocks is logged. `from`:
   *  milliseconds into them, in place of the beginning; null: each from where it is. */
  together(slots: string[], options: { sound: string | null; isOnce?: boolean; from?: number | null }): Promise<boolean>;
  /** Say which of those that play at once can be seen: the others play on, and none of that is watched. */
  sight(slots: readonly string[]): void;
  /** Play slots, several on one clock, from these milliseconds on; where a slot may be played only so often, that would
   *  not be counted. Resolves whether they started. */
  playFrom(slots: string[], ms: number, options?: { sound?: string | null }): Promise<boolean>;
  /** Whether the log proves that this place of a slot was played. */
  hasPlayed(slot: string, ms: number): boolean;
  pause(): void;
  /** Play a slot, or pause it when it plays. */
  toggle(slot: string): void;
  /** Share of the slot that has been watched, 0 to 1. */
  watched(slot: string): number;
  /** Whether the slot has been watched as `playback.watch` asks: while it plays, as if it were paused now. */
  isWatched(slot: string): boolean;
  /** How often the slot has been played whole, or as `playback.watch` asks. */
  wholePlays(slot: string): number;
  /** Whether the slot may be played (again), by `playback.max_plays`. */
  mayPlay(slot: string): boolean;
  /** Why the slot cannot be shown, or null. */
  failure(slot: string): string | null;
  /** Milliseconds into the current slot. */
  position(): number;
  /** Loop within these milliseconds, or over everything (null); what `playback.loop: region` is for. What has to be
   *  heard whole is heard whole first. */
  setRegion(region: [from: number, to: number] | null): void;
  readonly region: [from: number, to: number] | null;
  /** What is heard of a slot, decoded; null of what is no sound, or would not decode. */
  sound(slot: string): AudioBuffer | null;
  /** What is seen of a slot: a video, an image, a text; a quiet sign for sound. */
  node(slot: string): HTMLElement;
  /** Hear of every change, also that something has come to count as watched; `tick` is time passing. */
  listen(listener: (what: "state" | "tick" | "ended" | "stopped") => void): void;
}

/** A control for one value. `value` is null until it is set. */
export interface Control {
  element: HTMLElement;
  readonly value: number | null;
  lock(reason: string | null): void;
  focus(): void;
}
export interface ControlOptions {
  scale: Scale; label: Words; value: number | null;
  /** Log and keep the value under this question and slot. */
  question: string; slot: string;
  onChange(value: number): void;
  /** Hear that somebody tried to set it while it is locked; the reason has been said to who cannot see it. */
  onLocked?(reason: string): void;
}
export interface ChoicesOptions extends ControlOptions { labelledBy: string; hasKeys: boolean }

/** `layout`: several questions one after the other, or all at once. `onlyPlaying`: only the slider of what was played last
 *  can be moved. `hint`: words beside the question in place of the usual ones. `rule`: what is wrong with the scores of a
 *  question when all are set, in words, or null. */
export interface BoardOptions {
  layout: "turns" | "rows"; onlyPlaying: boolean; hint: string | null;
  rule?(scores: number[], scale: Scale): string | null;
}

/** What stands between the participant and the next page: words, and where to go to change that. */
export interface Gap { reason: string; focus(): void }

export interface WayOn {
  button: HTMLButtonElement; reason: HTMLElement; done: Promise<void>;
  /** Says what is left to do; words that were just told stay where nobody has done anything since. */
  refresh(isTelling?: boolean): void;
  /** Shows words in place of the reason for some seconds or until `refresh`, and marks the control that they mean. */
  tell(words: string, meant?: HTMLElement): void;
}

/** Marks that people set while something plays. */
export interface Marks {
  /** What there is to mark and how, for before anything plays. */
  guide(): HTMLElement;
  /** A button for each label, which works while something plays. */
  buttons(): HTMLElement;
  /** The buttons, and under them the marks on a line and in a list; `clip`: with a clip that can be played again. */
  panel(options: { clip: boolean }): HTMLElement;
  /** What is left to do about marks. */
  gap(): Gap | null;
  /** Hear of every change of the marks. */
  listen(listener: () => void): void;
  answer(): Mark[];
}

/** Everything a view draws with. What it builds is accessible, logged, kept over a reload, and translated. */
export interface Stage {
  /** Where the view draws; empty. */
  main: HTMLElement;
  say: Say;
  element: MakeElement;
  icon(name: IconName): SVGElement;
  /** Lets a node and all in it wear the colour of a slot (--slot, --slot-ink). */
  wear(node: HTMLElement, slot: Slot): void;
  /** Letter or label of a slot, as shown. */
  label(slot: Slot): string;
  /** Resolves when all media of the trial are on this device; shows how far it is. */
  load(): Promise<void>;
  /** Shows one slot by itself, after a gesture, in full screen where the study says so. Resolves when it was watched. */
  play(slot: string): Promise<void>;
  /** Shows slots one after the other after one gesture, `gap` seconds of grey between them. Resolves when all were
   *  watched, or would not play. `isAgain`: asked for once more, so without a press. `passes`: how often all come. */
  sequence(slots: string[], options: { gap: number; isAgain?: boolean; passes?: number }): Promise<void>;
  /** Shows slots side by side and at once after one gesture, in this order; `sound` names the one that is heard. */
  sideBySide(slots: string[], options: { sound?: string | null; isAgain?: boolean }): Promise<void>;
  /** Plays a slot on the screen of the page, at once; again pauses it. */
  switchTo(slot: string): void;
  /** Asks all questions of the trial about one slot; resolves with what was chosen, after Next. */
  ask(slot: string): Promise<Answer>;
  /** Shows all slots as `extra.presentation` says and asks about them: for a score of the slot that is named, or of
   *  `both`, else which of the two without a name it is. Resolves with what was chosen, after Next. */
  compare(rated?: string): Promise<Answer>;
  /** Plays the only slot once for each question, and asks one after each play; `attend` says what to attend to in each.
   *  Resolves with all answers. */
  passes(attend: Words[]): Promise<Answer>;
  /** Shows a play button for every slot and a slider for every rated one, under one screen or transport. Resolves with
   *  all values, after Next. */
  board(options: BoardOptions): Promise<Answer>;
  /** Shows all questions as statements about the rated slot, with the slots small beside them; `sound` names the one that
   *  is heard. Resolves with what was chosen, after Next. */
  survey(options: { sound: string | null }): Promise<Answer>;
  /** Shows a play button for every slot and asks for their order: as a list, or the best and the worst. Resolves with what
   *  was chosen, after Next. */
  order(how: { isList: boolean }): Promise<Answer>;
  /** Shows a slot with the words of `extra.words`, to be marked for each question. Resolves with the marks, after Next. */
  mark(slot: string): Promise<Answer>;
  /** Shows a slot with a field for each question, of up to `extra.most` characters. Resolves with the texts, after Next. */
  type(slot: string): Promise<Answer>;
  /** A Next button that says what is missing. `done` resolves when it is pressed and nothing is. */
  next(options: { gap(): Gap | null; ready: string; word?: string }): WayOn;
  /** A framed place for the clips, as large as the page allows. */
  screen(options: { hint: string; note: string }): HTMLElement;
  fader(options: ControlOptions): Control;
  choices(options: ChoicesOptions): Control;
  /** A value with as many decimals as the steps of its scale have. */
  figure(scale: Scale, value: number): string;
  /** The words of a scale beside a row of faders, and the bands behind them. */
  bands(scale: Scale): { labels: HTMLElement; field: HTMLElement };
  player: Player;
  /** Where people mark what plays; null where the study does not ask for it. There after `load`. */
  marks: Marks | null;
  /** Listens to single keys until the signal, or the step, ends; Help lists them. */
  keys(bindings: Binding[], signal?: AbortSignal): void;
  /** Says something politely to who cannot see it. */
  status(text: Words): void;
  log(kind: EventKind, slot: string | null, data: Json): void;
  /** Values that survive a reload. */
  draft: { get(name: string): Json | undefined; set(name: string, value: Json): void };
  /** Slots that would not play, for the answer. */
  missing(): Missing;
  /** Ends with the step. */
  signal: AbortSignal;
}
