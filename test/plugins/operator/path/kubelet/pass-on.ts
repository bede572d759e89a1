import type { Socket } from 'node:net';

/** What one says the other hears; when one is gone, so is the other. */
export function passOn(one: Socket, other: Socket): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
  }
}
