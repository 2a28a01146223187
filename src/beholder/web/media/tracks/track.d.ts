// What a medium does for the player: one track per slot. Checked by `tsc --noEmit`; never served as code.

import type { Playback, Slot } from "../../types";

export interface Track {
  /** What is seen of it. */
  readonly node: HTMLElement;
  /** Looked at, not played: it has no clock but the person's. */
  readonly isStill: boolean;
  /** Milliseconds into it. */
  readonly position: number;
  /** Milliseconds that it lasts, as this browser has it. */
  readonly duration: number;
  /** Whether it stands at its end. */
  readonly isOver: boolean;
  /** How often a loop has begun anew since the start; a track that cannot loop by itself stays at 0. */
  readonly rounds: number;
  /** Resolve to why a file is of no use, or null. */
  attach(blob: Blob): Promise<string | null>;
  /** Play from here, in a loop where it can. Rejects where the browser refuses. */
  start(from: number, loop: Loop | null): Promise<void>;
  /** Stop where it is. */
  halt(): void;
  /** Play on in place of another track that plays, at the same moment of it; false where that is not possible. */
  takeOver(other: Track): boolean;
  mute(isMuted: boolean): void;
  /** What was drawn since the start. */
  count(): Drawn;
  /** Whether it begins a loop anew by itself, on its own clock. */
  readonly isLooping?: boolean;
  /** What is heard, decoded, where it is a sound. */
  readonly sound?: AudioBuffer | null;
}

export type Loop = [from: number, to: number];
export interface Drawn { total: number | null; dropped: number; width: number; height: number }

/** What a track tells of itself. */
export interface Hears {
  /** It stopped, and nobody here asked for it. */
  paused(): void;
  ended(): void;
  /** It does not go on for now: no data, or nobody can see it. */
  lost(kind: "stall" | "pause"): void;
  /** It goes on after that. */
  found(): void;
  jumped(): void;
  rate(rate: number): void;
  failed(what: string): void;
}

export interface Makings {
  playback: Playback;
  label(slot: Slot): string;
  hears(slot: Slot): Hears;
  /** Ends with the step. */
  signal: AbortSignal;
}
/** What a module of this folder exports. */
export type OpenTracks = (slots: Slot[], makings: Makings) => Track[];

/** Keeps videos that play at once on one clock. */
export type Follow = (nodes: HTMLVideoElement[]) => { /** Return the largest distance, in milliseconds; null: not measured. */ stop(): number | null };
