// Dragging by mouse, pen and finger. Nothing moves in the document before it is let go: a touch belongs to the element
// on which it began.

const FAR = 6; // pixels from which on a press is a drag

/** Let a node be dragged. Its style sheet gives it `touch-action: none`, or fingers scroll the page instead.
 *  @param {HTMLElement} node
 *  @param {{ mayStart(): boolean, onOver(at: PointerEvent | null): void, onDrop(at: PointerEvent): void }} hooks
 *    `onOver` shows where it would be dropped now; null: nowhere, the drag is over */
export function drag(node, { mayStart, onOver, onDrop }) {
  /** @type {{ x: number, y: number, isFar: boolean } | null} */
  let start = null;
  let isDragged = false; // the click that ends a drag is none
  const clear = () => {
    start = null;
    node.classList.remove("is-dragged");
    node.style.removeProperty("translate");
    onOver(null);
  };
  node.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary || event.button !== 0 || !mayStart()) return;
    start = { x: event.clientX, y: event.clientY, isFar: false };
    isDragged = false;
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (start === null) return;
    const [x, y] = [event.clientX - start.x, event.clientY - start.y];
    if (!start.isFar && Math.hypot(x, y) < FAR) return;
    start.isFar = isDragged = true;
    node.classList.add("is-dragged");
    node.style.translate = `${Math.round(x)}px ${Math.round(y)}px`;
    onOver(event);
  });
  node.addEventListener("pointerup", (event) => {
    const isMoved = start?.isFar === true;
    clear();
    if (isMoved) onDrop(event);
  });
  node.addEventListener("pointercancel", clear);
  node.addEventListener(
    "click",
    (event) => {
      if (!isDragged) return;
      isDragged = false;
      event.stopImmediatePropagation();
    },
    { capture: true },
  );
}
