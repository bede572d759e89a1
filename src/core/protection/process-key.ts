/** Names a process for good, as the key of a map. `start` in nanoseconds since boot. */
export function processKey({ pid, start }: { readonly pid: number; readonly start: bigint }): string {
  return `${pid} ${start}`;
}
