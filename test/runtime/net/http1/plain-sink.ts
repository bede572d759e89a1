import type { ByteSink } from '../../../../src/runtime/net/http1-chunked-body.ts';

/** A sink in ordinary memory. */
export function plainSink(): ByteSink {
  let held = Buffer.alloc(0);
  return {
    get bytes() {
      return held;
    },
    append(bytes) {
      held = Buffer.concat([held, bytes]);
    },
    reserve() {},
    clear() {
      held = Buffer.alloc(0);
    },
  };
}
