// The page's player on a clock that the test moves: reads lines of JSON, each a page and what a person does there, and
// answers each with the log and with what the page holds for watched. Tracks are simulated, the player is the real one.

import { createInterface } from "node:readline";

const [folder] = process.argv.slice(2);
const FRAME_MS = 50;
let clock = 0;
let frames = [];
const value = (of) => ({ value: of, configurable: true });
Object.defineProperties(globalThis, {
  performance: value({ now: () => clock }),
  navigator: value({}),
  document: value({ hidden: false, addEventListener() {} }),
  addEventListener: value(() => {}),
  requestAnimationFrame: value((run) => frames.push(run)),
  HTMLVideoElement: value(class {}),
  screen: value({ width: 1, height: 1 }),
});
Object.assign(globalThis, { innerWidth: 1, innerHeight: 1, devicePixelRatio: 1 });
const { openPlayer } = await import(`${folder}/player.js`);
const { isWatched, openCount, wholePlays } = await import(`${folder}/watched.js`);
const settle = () => new Promise(setImmediate);

/** One slot: sounds loop by themselves and take over from each other, videos count frames, stills do neither. */
function openTrack({ id, media: { ms, medium, frames: drawn } }, hears) {
  let run = null; // since when, from where, in which loop
  let [rest, isOver] = [0, false];
  const passed = () => run.from + clock - run.at;
  const track = {
    id,
    node: { dataset: {}, toggleAttribute() {}, getBoundingClientRect: () => ({ width: 0, height: 0 }) },
    isStill: medium === "image",
    duration: ms,
    get position() {
      if (run === null) return rest;
      if (run.loop === null || passed() < run.loop[1]) return Math.min(ms, passed());
      const [from, to] = run.loop;
      return from + ((passed() - to) % (to - from));
    },
    get rounds() {
      if (run === null || run.loop === null || passed() < run.loop[1]) return 0;
      const [from, to] = run.loop;
      return 1 + Math.floor((passed() - to) / (to - from));
    },
    get isOver() {
      return isOver;
    },
    async start(from, loop) {
      run = { at: clock, from, loop: medium === "audio" ? loop : null, begun: clock };
      isOver = false;
    },
    halt() {
      rest = track.position;
      run = null;
    },
    takeOver(other) {
      if (medium !== "audio" || !other.give) return false;
      run = other.give();
      isOver = false;
      return run !== null;
    },
    mute() {},
    count: () => ({
      total: medium === "video" ? (drawn ?? track.draw()) : null,
      dropped: 0,
      width: 16,
      height: 9,
    }),
    drawn: 0,
    draw() {
      if (run !== null) track.drawn = 1 + Math.floor((clock - run.begun) / 40);
      return track.drawn;
    },
    give() {
      const given = run;
      rest = run === null ? rest : track.position;
      run = null;
      return given;
    },
    /** Go on, or end. */
    move() {
      if (run === null || run.loop !== null || passed() < ms) return;
      [run, rest, isOver] = [null, ms, true];
      hears.ended();
    },
    stall: () => run !== null && hears.lost("stall"),
    found: () => run !== null && hears.found(),
    jump(to) {
      if (run === null || medium !== "video") return;
      run = { ...run, at: clock, from: to };
      hears.jumped();
    },
  };
  return track;
}

async function visit({ trial, events, doing, until }) {
  clock = 0;
  const log = { events, add: (...event) => log.events.push([Math.round(clock), ...event]) };
  let [tracks, player] = [new Map(), null];
  const abort = new AbortController();
  const first = {}; // when each slot first counted
  let isTaken = false; // whether something that counted was taken back
  const open = () => {
    frames = [];
    log.add("shown", null, {});
    const openTracks = (slots, { hears }) =>
      slots.map((slot) => {
        tracks.set(slot.id, openTrack(slot, hears(slot)));
        return tracks.get(slot.id);
      });
    const media = new Set(trial.slots.map(({ media }) => media.medium));
    const kit = { open: new Map([...media].map((medium) => [medium, openTracks])), follow: null };
    player = openPlayer({ trial, kit, label: () => "", log, signal: abort.signal });
    player.listen(() => {});
  };
  const look = () => {
    for (const { id } of trial.slots) {
      if (player.isWatched(id)) first[id] ??= clock;
      else if (id in first) isTaken = true;
    }
  };
  open();
  for (const [what, ...how] of doing) {
    if (what === "wait") {
      for (let left = how[0]; left > 0 && !(until in first); left -= FRAME_MS) {
        clock += Math.min(FRAME_MS, left);
        for (const track of tracks.values()) track.move();
        for (const run of frames.splice(0)) run(clock);
        await settle();
        look();
      }
    } else if (what === "play" || what === "restart") void player[what](how[0]);
    else if (what === "pause") player.pause();
    else if (what === "region") player.setRegion(how[0]);
    else if (what === "together") void player.together(trial.slots.map(({ id }) => id), { sound: null });
    else if (what === "reload" || what === "crash") {
      if (what === "reload") player.pause(); // as the page does when it goes
      else for (const id in first) delete first[id];
      tracks = new Map();
      open();
    } else tracks.get(how[0])[what](how[1]);
    await settle();
    look();
  }
  const watched = Object.fromEntries(trial.slots.map(({ id }) => [id, player.isWatched(id)]));
  const isTwice = Object.fromEntries(trial.slots.map(({ id }) => [id, player.wholePlays(id) >= 2]));
  player.pause();
  abort.abort();
  return { watched, isTwice, first, isTaken, events: log.events };
}

function count({ trial, events }) {
  const counted = openCount(trial.slots, trial.playback.whole, trial.together);
  counted.read(events);
  const seen = trial.slots.map(({ id }) => [id, counted.seen(id)]);
  const watched = Object.fromEntries(seen.map(([id, one]) => [id, isWatched(one, trial.playback)]));
  return { watched, isTwice: Object.fromEntries(seen.map(([id, one]) => [id, wholePlays(one, trial.playback) >= 2])) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  console.log(JSON.stringify(asked.doing === undefined ? count(asked) : await visit(asked)));
}
