/** Bytes that are not a protobuf message. The text never quotes them. */
export class ProtobufError extends Error {
  override readonly name = 'ProtobufError';
}
