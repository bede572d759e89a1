import { tmpdir } from 'node:os';
import { createVaultClient } from '../../../keyserver/client.ts';
import type { Transit } from '../../../keyserver/contract.ts';
import { HangGuard } from '../../../keyserver/hang-guard.ts';
import { vaultConfig } from '../../../keyserver/settings.ts';
import { createTransit } from '../../../keyserver/transit.ts';
import type { ObjectsConfig } from '../../../objects/config.ts';
import type { DataKeys } from '../../../objects/keys/data-keys.ts';
import { type OpenObjects, openObjects } from '../../../objects/open-objects.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { Resolved } from '../../../runtime/settings/setting.ts';
import type { Env } from './run.ts';
import type { keySettings, placeSettings } from './settings.ts';

/** The key server of a command. */
export interface OpenKeyServer {
  transit(mount: string, keyName: string): Transit;
  close(): Promise<void>;
}

/**
 * @param component as which requests name their sender
 * @throws SvcError for certificates or tokens that cannot be read
 */
export function openKeyServer(
  component: string,
  settings: Resolved<typeof keySettings>,
  log: Logger,
): OpenKeyServer {
  const vault = createVaultClient({
    ...{ component, config: vaultConfig(settings), log },
    onState: () => undefined,
  });
  void vault.start();
  return {
    transit: (mount, keyName) => createTransit(vault, { mount, keyName, joinCalls: true }),
    close: () => vault.close(),
  };
}

/** What a command does otherwise than `usual`. */
type Choices = Partial<
  Pick<
    ObjectsConfig,
    | ('upstreamSigning' | 'upstreamChecksum' | 'format' | 'binding')
    | ('requireBound' | 'unencryptedReads' | 'recoveryRecipients')
  >
>;

/**
 * Bodies are decrypted while they arrive, which takes neither memory nor disk: nothing that was not verified gets a final
 * name. Nobody calls or lists, and part lists stay out of headers: putting them there takes another copy of the object,
 * and stores ignore conditions on copies.
 */
const usual = {
  strict: false,
  verifyBuffer: 0,
  verifyBudget: 0,
  spoolSize: 0,
  envelopeHeaders: 'shown',
  listSizes: 'stored',
  inlineLimit: 0,
  upstreamSigning: 'auto',
  upstreamChecksum: 'crc32',
  format: 1,
  binding: 'key',
  requireBound: false,
  unencryptedReads: 'allow',
  recoveryRecipients: [],
} as const satisfies Partial<ObjectsConfig>;

/** Timeout of key server calls in milliseconds: no caller waits for a single object. */
const keyServerMs = 60_000;

/**
 * The engine of a proxy with these settings, without its server.
 * @throws SvcError for certificates that cannot be read
 */
export function openBulkObjects(
  store: Resolved<typeof placeSettings>,
  keys: DataKeys,
  env: Env,
  log: Logger,
  choices: Choices = {},
): OpenObjects {
  const { reservedPrefix, stateBucket } = store;
  const config: ObjectsConfig = {
    ...usual,
    ...storeOf(store),
    spoolDir: tmpdir(),
    reservedPrefix,
    stateBucket,
    ...choices,
  };
  const hangGuard = new HangGuard({ timeoutMs: keyServerMs, log });
  const metrics = { request() {}, refused() {}, bytes() {} };
  return openObjects({ config, keys, hangGuard, metrics, log, env, keysAhead: true });
}
