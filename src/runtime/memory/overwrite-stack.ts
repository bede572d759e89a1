const levels = 8;
const perLevel = new Array<number>(1024).fill(0);

let due = false;

/**
 * Overwrites 64 KiB of the stack, where native functions have left what they worked on: node:tls decrypts into an array
 * of 16 KiB there. Later, because what a callback of a socket leads to runs inside the very functions whose leavings
 * are meant.
 */
export function overwriteStackSoon(): void {
  if (due) return;
  due = true;
  setImmediate(() => {
    due = false;
    overwriteStack();
  });
}

function overwriteStack(left = levels): void {
  // Arguments beyond the declared ones are laid on the stack as well.
  if (left > 0) Reflect.apply(overwriteStack, undefined, [left - 1, ...perLevel]);
}
