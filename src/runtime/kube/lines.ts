import { KubeError } from './errors.ts';

const newline = 0x0a;

/**
 * Lines of a stream, without their ends; empty ones are left out. What follows the last end is no line.
 * @throws KubeError KUBE_PROTOCOL when a line has more than `maxBytes`
 */
export async function* readLines(stream: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<string> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      refuseOver(maxBytes, size + end - from);
      const rest = chunk.subarray(from, end);
      const line = (held.length === 0 ? rest : Buffer.concat([...held, rest])).toString('utf8');
      [held, size, from] = [[], 0, end + 1];
      if (line.trim() !== '') yield line;
    }
    held.push(chunk.subarray(from));
    size += chunk.length - from;
    refuseOver(maxBytes, size);
  }
}

function refuseOver(maxBytes: number, size: number): void {
  if (size > maxBytes) throw new KubeError('KUBE_PROTOCOL', `A line of a watch has over ${maxBytes} bytes`);
}
