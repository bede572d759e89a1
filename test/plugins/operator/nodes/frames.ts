const types = {
  ...{ data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, window: 8, continuation: 9 },
  unknown: 0xee,
};
const endHeaders = 4;

export function frameOf(
  type: keyof typeof types,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
  flags = 0,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = types[type];
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Literals without an index; all are short. */
const text = (value: string) => Buffer.concat([Buffer.from([value.length]), Buffer.from(value)]);
const fields = {
  ':method': 'POST',
  ':scheme': 'https',
  ':path': '/svc.operator.v1.NodeChannel/ReportNode',
  ':authority': 'svc-operator',
  'content-type': 'application/grpc',
  te: 'trailers',
};
const headPayload = Buffer.concat(
  Object.entries(fields).flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]),
);
export const headOf = (stream: number) => frameOf('headers', stream, headPayload, endHeaders);
/** What comes before a report of that length. */
export const announced = (length: number) => {
  const message = Buffer.alloc(5);
  message.writeUInt32BE(length, 1);
  return message;
};

/** Of a connection. */
export const opening = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frameOf('settings', 0),
]);
