import { exitStatus, SvcError } from '../../../core/errors.ts';
import type { ArgumentRoom } from '../../../runtime/native/argument-room.ts';
import { type Delivered, originOf } from './delivered.ts';

const pointerBytes = 8;

/**
 * Sees that the kernel will take the strings, before anything is started or stopped for their sake.
 * @param strings arguments and environment, the secrets included
 * @throws SvcError SECRETS_TOO_LARGE (exit 78) whose details name path and field
 */
export function checkRoom(
  delivered: readonly Delivered[],
  strings: readonly (string | Uint8Array)[],
  room: ArgumentRoom,
): void {
  const mistakes = delivered.flatMap((secret) => tooLong(secret, room.string));
  const total = strings.reduce((sum, string) => sum + Buffer.byteLength(string) + 1 + pointerBytes, 0);
  if (total > room.total)
    mistakes.push(`arguments and environment together have ${total} bytes, the system takes ${room.total}`);
  if (mistakes.length === 0) return;
  throw new SvcError('SECRETS_TOO_LARGE', 'The secrets are too large for an environment', {
    nextStep: 'Deliver them by the descriptor alone (SVC_DELIVERY=fd), or fewer of them (SVC_ENV_MAP_ONLY).',
    exitStatus: exitStatus.config,
    details: mistakes,
  });
}

function tooLong(secret: Delivered, longest: number): string[] {
  const { key, value } = secret;
  const length = Buffer.byteLength(key) + value.length + 2;
  return length > longest
    ? [`${originOf(secret)}: has ${value.length} bytes, with its name more than the ${longest} of a variable`]
    : [];
}
