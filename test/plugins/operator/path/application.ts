import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Tells what it was started with: its arguments, a digest of its secret (never its value), who and where it is, and what a
 * child of its own has for an environment, the secret left out. Texts are in base64. With APP_STAYS it stays until SIGTERM.
 */
const SCRIPT = `#!/bin/busybox sh
alias b=/bin/busybox
told() { echo "$1 $(b base64 -w 0)"; }
printf '%s\\0' "$0" "$@" | told argv
printf %s "$PASSWORD" | b sha256sum | b cut -c 1-64 | told digest
/bin/busybox env -u PASSWORD /bin/busybox env | told child
printf '%s' "$(b id -u):$(b id -g) $(b pwd)" | told place
[ -z "$APP_STAYS" ] && exit 0
trap 'echo stopped; exit 0' TERM
echo staying
while :; do b sleep 1 & wait $!; done
`;

/** What an application has told. */
export interface Told {
  readonly argv: readonly string[];
  /** Of PASSWORD, in hexadecimal. */
  readonly digest: string;
  /** The environment of a child, without PASSWORD. */
  readonly child: ReadonlyMap<string, string>;
  /** `uid:gid folder`. */
  readonly place: string;
}

/** Makes the root of an image with a static busybox and the application at the given paths, and nothing else. */
export function makeApplicationRoot(
  root: string,
  busybox: string,
  programs: readonly string[] = ['/bin/app'],
): void {
  mkdirSync(join(root, 'bin'), { recursive: true });
  copyFileSync(busybox, join(root, 'bin/busybox'));
  for (const program of programs) {
    mkdirSync(join(root, dirname(program)), { recursive: true });
    writeFileSync(join(root, program), SCRIPT);
    chmodSync(join(root, program), 0o755);
  }
}

/** @throws Error with the output where something is missing */
export function toldIn(output: string): Told {
  const text = (name: string) => {
    const found = new RegExp(`^${name} (\\S*)$`, 'm').exec(output)?.[1];
    if (found === undefined) throw new Error(`the application did not tell its ${name}:\n${output}`);
    return Buffer.from(found, 'base64').toString();
  };
  const lines = text('child').split('\n').filter(Boolean);
  return {
    argv: text('argv').split('\0').slice(0, -1),
    digest: text('digest').trim(),
    child: new Map(lines.map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)])),
    place: text('place'),
  };
}

export const digestOf = (value: string): string => createHash('sha256').update(value).digest('hex');
