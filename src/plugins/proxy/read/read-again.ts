import { EnvelopeError } from '../../../core/envelope/error.ts';
import type { Answer } from '../context.ts';
import { ObjectChanged } from './object-changed.ts';

/**
 * Reads once more when the object was replaced in between, or when its part list
 * is gone: it may just have moved into the object's own headers.
 */
export async function readAgain<T>(answer: Pick<Answer, 'started'>, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (answer.started || !mayHelp(error)) throw error;
    return read();
  }
}

const mayHelp = (error: unknown) =>
  error instanceof ObjectChanged || (error instanceof EnvelopeError && error.reason === 'manifest-missing');
