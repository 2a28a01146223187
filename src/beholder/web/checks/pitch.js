// Pitch looks as headphones do; its words ask for the faint tone in place of the softest.

export { default } from "./headphones.js";
