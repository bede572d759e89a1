import { SvcError } from '../../../core/errors.ts';
import { isVaultError, mayPass, VaultError } from '../../../runtime/vault/errors.ts';
import type { SecretClient, SecretDocument } from '../../../runtime/vault/secret-client/contract.ts';

/**
 * Reads all paths side by side; the caller releases the documents.
 * @throws VaultError naming every path that was refused, else the one that could not be read
 */
export async function readAll(
  client: Pick<SecretClient, 'read'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<SecretDocument[]> {
  const readings = await Promise.allSettled(paths.map((path) => client.read(path, signal)));
  const documents = readings.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  const failures = readings.filter((one) => one.status === 'rejected').map(({ reason }) => reason as unknown);
  if (failures.length === 0) return documents;
  releaseAll(documents);
  throw together(failures);
}

export function releaseAll(documents: readonly SecretDocument[]): void {
  for (const document of documents) document.release();
}

/** The values in place. */
export function valuesIn(documents: readonly SecretDocument[]): Buffer[] {
  return documents.flatMap(({ fields }) => fields.map(({ value }) => asBuffer(value)));
}

const asBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length);

/** What no further attempt can mend goes before what it can, and all refusals are told at once. */
function together(failures: readonly unknown[]): unknown {
  const final = failures.filter((error) => !mayPass(error));
  const [first] = final;
  if (first === undefined) return failures[0];
  if (final.length === 1 || !isVaultError(first)) return first;
  const details = new Set(final.map((error) => (error instanceof SvcError ? error.message : String(error))));
  const { kind, code, exitStatus, nextStep } = first;
  return new VaultError(kind, [...details].join('; '), { code, exitStatus, nextStep, cause: first });
}
