import { EnvelopeError, type EnvelopeFault } from '../../../src/objects/format/cipher.ts';

/** The reason of the EnvelopeError that `action` throws; anything else is thrown on. */
export function faultOf(action: () => unknown): EnvelopeFault | 'none' {
  try {
    action();
  } catch (error) {
    if (error instanceof EnvelopeError) return error.reason;
    throw error;
  }
  return 'none';
}
