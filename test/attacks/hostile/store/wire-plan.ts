import type { StoreReply } from './model.ts';

/** How an answer goes over the wire, lies included. */
export interface WirePlan {
  readonly reply: StoreReply;
  /** Default `length`. `both` sends a length and chunks; `none` leaves the end to the connection's. */
  readonly framing?: 'length' | 'chunked' | 'both' | 'none';
  /** Value of Content-Length in place of the right one; more than one line is more than one value. */
  readonly lengths?: readonly string[];
  /** Lines put into the head as they are, each with its CRLF. */
  readonly lines?: string;
  /** Heads of 1xx before the answer. */
  readonly interim?: number;
  /** Send this many bytes of the body and no more. */
  readonly cut?: number;
  /** What becomes of the connection afterwards. Default `keep`. `hang` keeps it and sends nothing more. */
  readonly ending?: 'keep' | 'fin' | 'reset' | 'hang';
  /** Sends nothing at all. */
  readonly silent?: boolean;
  /** Sends the body in so many pieces, a few milliseconds apart. */
  readonly pieces?: number;
  /** Sent behind the whole answer. */
  readonly behind?: Buffer;
}

const noBody = (method: string, status: number) => method === 'HEAD' || status === 304 || status === 204;

/** Head and body in the order in which they are sent. */
export function wireBytes(
  plan: WirePlan,
  method: string,
): { readonly head: Buffer; readonly pieces: Buffer[] } {
  const { reply, framing = 'length', lines = '', interim = 0 } = plan;
  const bare = noBody(method, reply.status);
  const body = bare ? Buffer.alloc(0) : reply.body;
  const head = [
    'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n'.repeat(interim),
    `HTTP/1.1 ${reply.status} Told\r\n`,
    ...reply.headers.map(([name, value]) => `${name}: ${value}\r\n`),
    ...lengthLines(plan, method),
    framing === 'chunked' || framing === 'both' ? 'transfer-encoding: chunked\r\n' : '',
    `${lines}\r\n`,
  ];
  const chunked = !bare && (framing === 'chunked' || framing === 'both');
  const whole = chunked ? inChunks(body) : body;
  const sent = plan.cut === undefined ? whole : whole.subarray(0, plan.cut);
  return {
    head: Buffer.from(head.join(''), 'latin1'),
    pieces: [...inPieces(sent, plan.pieces ?? 1), plan.behind ?? Buffer.alloc(0)],
  };
}

function lengthLines({ reply, framing = 'length', lengths }: WirePlan, method: string): string[] {
  if (lengths !== undefined) return lengths.map((value) => `content-length: ${value}\r\n`);
  if (framing === 'chunked' || framing === 'none') return [];
  if (reply.status === 304 || reply.status === 204) return [];
  return [
    `content-length: ${method === 'HEAD' || framing === 'length' ? reply.body.length : reply.body.length + 7}\r\n`,
  ];
}

function inChunks(body: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length; at += 16_384) {
    const piece = body.subarray(at, at + 16_384);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}

function inPieces(body: Buffer, count: number): Buffer[] {
  const size = Math.max(1, Math.ceil(body.length / count));
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) pieces.push(body.subarray(at, at + size));
  return pieces;
}

/** The body that a client may take for whole, as HTTP has it; undefined where none may. */
export function wholeBody(plan: WirePlan): Buffer | undefined {
  const { reply, framing = 'length', cut, ending = 'keep', silent, lengths } = plan;
  if (silent) return undefined;
  const sent = cut === undefined ? reply.body : reply.body.subarray(0, cut);
  if (framing === 'none' && lengths === undefined) return ending === 'fin' ? sent : undefined;
  const length = lengths === undefined || lengths.length !== 1 ? undefined : Number(lengths[0]);
  if (length !== undefined && framing === 'length') {
    const all = Buffer.concat([sent, plan.behind ?? Buffer.alloc(0)]);
    return Number.isSafeInteger(length) && length >= 0 && all.length >= length
      ? all.subarray(0, length)
      : undefined;
  }
  return cut === undefined || cut >= reply.body.length ? reply.body : undefined;
}
