import { closeSync, openSync, readSync } from 'node:fs';

export interface TextLimits {
  /** Default: a line end. */
  readonly separator?: '\n' | ' ';
  /** Of the whole text. */
  readonly maxBytes: number;
}

const pieceLength = 65_536;
/** A line of mountinfo holds three paths, in which the kernel writes some characters as four, and options. */
const maxPartBytes = 131_072;

/**
 * Reads a text part by part, never as a whole: how long a file of /proc is, the processes decide that it tells about.
 * Empty parts are left out.
 * @param visit takes a part without its separator; the reading ends when it returns false
 * @throws RangeError for a text that is too long, once all of it that is allowed was visited; what opening and reading
 * throw
 */
export function eachPart(path: string, limits: TextLimits, visit: (part: string) => boolean | void): void {
  const descriptor = openSync(path, 'r');
  try {
    visitParts(descriptor, path, limits, visit);
  } finally {
    closeSync(descriptor);
  }
}

function visitParts(
  descriptor: number,
  path: string,
  { separator = '\n', maxBytes }: TextLimits,
  visit: (part: string) => boolean | void,
): void {
  const end = separator.charCodeAt(0);
  const buffer = Buffer.allocUnsafe(maxPartBytes + pieceLength);
  let held = 0;
  for (let total = 0; ; ) {
    const length = readSync(descriptor, buffer, held, pieceLength, null);
    total += length;
    if (total > maxBytes) throw new RangeError(`${path} is longer than ${maxBytes} bytes`);
    const filled = buffer.subarray(0, held + length);
    let from = 0;
    for (let at = filled.indexOf(end); at >= 0; at = filled.indexOf(end, from)) {
      if (at > from && visit(filled.toString('utf8', from, at)) === false) return;
      from = at + 1;
    }
    held = filled.length - from;
    if (length === 0) {
      if (held > 0) visit(filled.toString('utf8', from));
      return;
    }
    if (held > maxPartBytes) throw new RangeError(`${path} has a part of more than ${maxPartBytes} bytes`);
    buffer.copyWithin(0, from, filled.length);
  }
}
