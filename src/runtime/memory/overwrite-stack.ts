const levels = 8;
const perLevel = new Array<number>(1024).fill(0);

/**
 * Overwrites 64 KiB of the stack below the caller, where native functions have left what they worked on: node:tls
 * decrypts into an array of 16 KiB there. To be called by a timer or setImmediate: what a callback of a socket
 * leads to runs inside the very functions whose leavings are meant.
 */
export function overwriteStack(left = levels): void {
  // Arguments beyond the declared ones are laid on the stack as well.
  if (left > 0) Reflect.apply(overwriteStack, undefined, [left - 1, ...perLevel]);
}
