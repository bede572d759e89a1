import * as assert from 'uvu/assert';
import { VaultError, type VaultFailure } from '../../src/keyserver/contract.ts';

/** What the promise rejects with; to be fulfilled fails the test. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => assert.unreachable('should have been rejected'),
    (reason: unknown) => reason,
  );
}

/** The VaultError of this kind that the promise rejects with; anything else fails the test. */
export async function vaultFailure(promise: Promise<unknown>, kind: VaultFailure): Promise<VaultError> {
  const error = await rejection(promise);
  if (!(error instanceof VaultError)) throw error;
  assert.is(error.kind, kind, error.message);
  return error;
}
