/** `1 node`, `3 nodes`; the plural where an s does not make it. */
export function counted(count: number, one: string, several: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
