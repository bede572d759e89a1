import { MiB, numbered, once, worstJson } from './pieces.ts';
import type { Lie } from './store.ts';
import { chunksOfOne } from './store.ts';

/** What the key server answers to every call. */
export interface KeyServerInput {
  readonly name: string;
  readonly lie: () => Lie;
}

const json = { 'content-type': 'application/json' };

const answers = (what: string, before: string, after: string): KeyServerInput[] =>
  Object.entries(worstJson(8 * MiB, before, after)).map(([name, make]) => {
    const body = once(make);
    return { name: `key server's ${what}: ${name}`, lie: () => ({ headers: json, body: body() }) };
  });

const head = (lines: string) =>
  Buffer.from(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${lines}\r\n`);

export const keyServerInputs: readonly KeyServerInput[] = [
  ...answers('data', '{"data":', '}'),
  ...answers('results', '{"data":{"batch_results":', '}}'),
  ...answers('errors', '{"errors":', '}'),
  {
    name: "key server's answer in chunks of one byte",
    lie: () => ({ raw: Buffer.concat([head('transfer-encoding: chunked\r\n'), chunksOfOne(MiB, ' ')]) }),
  },
  {
    name: "key server's head: as many headers as fit",
    lie: () => ({
      raw: head(
        `${Array.from({ length: 4_000 }, (_, index) => `${numbered(index)}:\r\n`).join('')}content-length: 0\r\n`,
      ),
    }),
  },
];
