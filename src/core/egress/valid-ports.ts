import { isPort } from './grants.ts';

/** Those on a port that there is; `warn` is told of the others. */
export function onValidPorts<T extends { readonly port: number | string }>(
  grants: readonly T[],
  warn: (text: string) => void,
): T[] {
  return grants.filter(({ port }) => {
    if (!isPort(port)) warn(`Port ${port} is none from 1 to 65535; what is on it is left out`);
    return isPort(port);
  });
}
