import { encodedLength } from '../../../core/secret-records/entry.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { SecretClient, SecretDocument } from '../../../runtime/vault/secret-client/contract.ts';
import type { Prepared } from '../application/prepared.ts';
import type { Runner } from '../application/runner.ts';
import type { Delivered } from '../delivery/delivered.ts';
import { nameSecrets } from '../delivery/name-secrets.ts';
import type { Observation } from '../observe/observation.ts';
import { readAll, releaseAll, valuesIn } from '../secrets/read-all.ts';
import type { ResolvedWrapperSettings } from '../settings.ts';

type Settings = Pick<
  ResolvedWrapperSettings,
  'secretPaths' | 'envMap' | 'envMapOnly' | 'rotation' | 'delivery'
>;

export interface RotationOptions {
  readonly client: Pick<SecretClient, 'read'>;
  readonly settings: Settings;
  readonly runner: Pick<Runner, 'restart' | 'renew'>;
  /** Wipes what reading has left of these values outside of protected memory. */
  readonly scrub: (values: readonly Buffer[]) => void;
  readonly prepare: (delivered: readonly Delivered[]) => Prepared;
  readonly digest: (delivered: readonly Delivered[]) => string;
  /** Digest of the secrets that the application was started with. */
  readonly inUse: string;
  readonly observation: Observation;
  readonly log: Logger;
}

/** Looks whether the secrets have changed, and passes a change on. A look that fails changes nothing. */
export class Rotation {
  readonly #options: RotationOptions;
  #inUse: string;
  /** Secrets that could not be passed on: logged once, told for as long as they are the newest. */
  #refused: { readonly digest: string; readonly reason: string } | undefined;

  constructor(options: RotationOptions) {
    this.#options = options;
    this.#inUse = options.inUse;
  }

  /**
   * @returns why secrets that have changed are not passed on, for as long as that is so
   * @throws VaultError where a path cannot be read, SvcError SECRETS_UNUSABLE where the new secrets cannot be delivered
   */
  async look(signal: AbortSignal): Promise<string | undefined> {
    const { client, settings, digest, observation } = this.#options;
    const documents = await readAll(client, settings.secretPaths, signal);
    try {
      const delivered = nameSecrets(documents, settings);
      const seen = digest(delivered);
      observation.looks.inc({ result: seen === this.#inUse ? 'unchanged' : 'changed' });
      if (seen === this.#inUse) this.#refused = undefined;
      else if (seen !== this.#refused?.digest) await this.#pass(delivered, seen);
      return this.#refused?.reason;
    } finally {
      this.#wipe(documents);
    }
  }

  #wipe(documents: readonly SecretDocument[]): void {
    try {
      this.#options.scrub(valuesIn(documents));
    } finally {
      releaseAll(documents);
    }
  }

  async #pass(delivered: readonly Delivered[], seen: string): Promise<void> {
    const { settings, runner, prepare } = this.#options;
    if (settings.rotation === 'restart') {
      if (await runner.restart(prepare(delivered))) this.#passed(delivered, seen);
    } else if (runner.renew(delivered)) this.#passed(delivered, seen);
    else this.#refuse(delivered, seen);
  }

  #passed({ length }: readonly Delivered[], seen: string): void {
    const { settings, observation, log } = this.#options;
    const kind = settings.rotation;
    this.#inUse = seen;
    this.#refused = undefined;
    observation.rotations.inc({ kind, result: 'done' });
    observation.secrets.set(length);
    log.info('secrets.rotated', { kind, secrets: length });
  }

  #refuse(delivered: readonly Delivered[], seen: string): void {
    const { settings, observation, log } = this.#options;
    const reason = `the new secrets (${encodedLength(delivered)} bytes) do not fit into the descriptor that the application has: it keeps the old ones`;
    this.#refused = { digest: seen, reason };
    observation.rotations.inc({ kind: settings.rotation, result: 'refused' });
    log.error('secrets.rotation.refused', {
      error: reason,
      nextStep: 'Restart the application, or use SVC_ROTATION=restart.',
    });
  }
}
