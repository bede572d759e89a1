import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './temporary.ts';
import type { Stoppable } from './types.ts';

const [A, AAAA] = [1, 28] as const;
const NXDOMAIN = 3;

/** By type of the question: data of the answers, an error code of DNS, or silence. */
export type DnsAnswers = Record<number, readonly (readonly number[])[] | number | 'silence'>;

/** RFC 1035, section 4: a header, the question again without what follows it, and the answers. */
export function replyTo(question: Buffer, answers: DnsAnswers): Buffer | undefined {
  const end = question.indexOf(0, 12) + 5;
  const type = question.readUInt16BE(end - 4);
  const answer = answers[type] ?? [];
  if (answer === 'silence') return undefined;
  const [records, code] = typeof answer === 'number' ? [[], answer] : [answer, 0];
  const header = Buffer.from(question.subarray(0, 12));
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(records.length, 6);
  header.writeUInt32BE(0, 8);
  const found = records.map((data) =>
    Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, data.length, ...data]),
  );
  return Buffer.concat([header, question.subarray(12, end), ...found]);
}

/** A name server on port 53 of a loopback address of its own. */
export interface NameServer extends Stoppable {
  /** IPv4 addresses by name, changed by tests; a name that is not in it does not exist. */
  readonly addresses: Map<string, readonly string[]>;
  /** A command that executes the rest of its arguments with this server for the only one (root). */
  readonly under: readonly string[];
}

/**
 * @param answer in place of `addresses`
 * @throws Error where port 53 cannot be had, as without root
 */
export async function startNameServer(
  answer?: (name: string) => readonly string[] | undefined,
): Promise<NameServer> {
  const addresses = new Map<string, readonly string[]>();
  const socket = createSocket('udp4', (question, { port, address }) => {
    const name = nameIn(question);
    const found = answer === undefined ? addresses.get(name) : answer(name);
    const data = found?.map((each) => each.split('.').map(Number));
    const reply = replyTo(question, { [A]: data ?? NXDOMAIN, [AAAA]: data ? [] : NXDOMAIN });
    if (reply !== undefined) socket.send(reply, port, address);
  });
  const host = `127.53.${process.pid & 255}.${1 + ((process.pid >> 8) & 127)}`;
  socket.bind(53, host);
  await once(socket, 'listening');
  const folder = temporaryFolder('name-server');
  const file = join(folder.path, 'resolv.conf');
  writeFileSync(file, `nameserver ${host}\n`);
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  return {
    addresses,
    under: ['unshare', '--mount', 'sh', '-c', script, file],
    async stop() {
      socket.close();
      await once(socket, 'close');
      await folder.remove();
    },
  };
}

/** Labels behind their lengths, to the empty one. */
function nameIn(question: Buffer): string {
  const labels: string[] = [];
  for (let at = 12; question[at]; at += (question[at] ?? 0) + 1)
    labels.push(question.toString('latin1', at + 1, at + 1 + (question[at] ?? 0)));
  return labels.join('.').toLowerCase();
}
