const HEADER = 5;

/** A message as it goes over the wire: not compressed, its length in four bytes before it. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(HEADER + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, HEADER);
  return framed;
}

/** The message of a body that is exactly one frame; undefined when it is anything else, or compressed. */
export function singleFrame(body: Uint8Array): Uint8Array | undefined {
  if (body.length < HEADER || body[0] !== 0) return undefined;
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  return body.length === HEADER + length ? body.subarray(HEADER) : undefined;
}
