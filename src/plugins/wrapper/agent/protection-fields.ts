import {
  bool,
  embedded,
  message,
  presentBool,
  presentUnsigned,
  unsigned,
} from '../../../core/protobuf/write-fields.ts';
import type {
  ApplicationProtection,
  ProcessProtection,
  SecretMemoryProtection,
} from '../protection/protection.ts';

const lockModes = { none: 1, partial: 2, all: 3 } as const;
const secretMemoryKinds = { memfd_secret: 1, anonymous: 2 } as const;

/** ProcessProtection of the schema. */
export function processFields(protection: ProcessProtection): Uint8Array {
  return message(
    unsigned(1, lockModes[protection.lockMode]),
    unsigned(2, protection.lockedBytes),
    unsigned(3, protection.unlockedBytes),
    unsigned(4, protection.swappedBytes),
    presentUnsigned(5, limit(protection.lockLimitBytes)),
    presentUnsigned(6, limit(protection.coreLimitBytes)),
    presentBool(7, protection.dumpable),
    bool(8, protection.ipcLock),
  );
}

/** ApplicationProtection of the schema. */
export function applicationFields(protection: ApplicationProtection): Uint8Array {
  return message(
    unsigned(1, protection.pid),
    unsigned(2, protection.lockedBytes),
    unsigned(3, protection.swappedBytes),
    presentUnsigned(4, limit(protection.coreLimitBytes)),
    presentBool(5, protection.dumpable),
  );
}

/** SecretMemory of the schema. */
export function secretMemoryFields(protection: SecretMemoryProtection): Uint8Array {
  return message(
    unsigned(1, secretMemoryKinds[protection.kind]),
    unsigned(2, protection.bytes),
    bool(3, protection.locked),
    bool(4, protection.undumped),
  );
}

/** A field that is present, or left out where there is nothing to tell. */
export function optional<T>(
  number: number,
  value: T | undefined,
  write: (value: T) => Uint8Array,
): Uint8Array {
  return embedded(number, value === undefined ? undefined : write(value));
}

/** No limit is an absent field. */
function limit(bytes: number): number | undefined {
  return bytes === Number.POSITIVE_INFINITY ? undefined : bytes;
}
