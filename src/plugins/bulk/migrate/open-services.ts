import { tmpdir } from 'node:os';
import { createVaultClient } from '../../../keyserver/client.ts';
import { HangGuard } from '../../../keyserver/hang-guard.ts';
import { vaultConfig } from '../../../keyserver/settings.ts';
import { createTransit } from '../../../keyserver/transit.ts';
import type { ObjectsConfig } from '../../../objects/config.ts';
import type { ObjectServices } from '../../../objects/context.ts';
import { openObjects } from '../../../objects/open-objects.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { MigrateSettings } from './settings.ts';

export interface MigrateServices extends ObjectServices {
  end(): Promise<void>;
}

/** Timeout of key server calls in milliseconds: no caller waits for a single object. */
const keyServerMs = 60_000;

/**
 * The services of a proxy with these settings, without its server.
 * @throws SvcError for certificates or tokens that cannot be read
 */
export function openServices(
  settings: MigrateSettings,
  env: Readonly<Record<string, string | undefined>>,
  log: Logger,
): MigrateServices {
  const vault = createVaultClient({
    ...{ component: 'migrate', config: vaultConfig(settings), log },
    onState: () => undefined,
  });
  const hangGuard = new HangGuard({ timeoutMs: keyServerMs, log });
  const { transitMount: mount, transitKey: keyName } = settings;
  const transit = createTransit(vault, { mount, keyName, joinCalls: true });
  const metrics = { request() {}, refused() {}, bytes() {} };
  const config = configOf(settings);
  const context = openObjects({ config, transit, hangGuard, metrics, log, env, keysAhead: true });
  void vault.start();
  return {
    ...context,
    async end() {
      context.close();
      await vault.close();
    },
  };
}

/** Nobody calls or lists. */
const uncalled = { envelopeHeaders: 'shown', listSizes: 'stored' } as const;

/** Nothing is replaced before the whole plaintext was verified, so none has to be held back until then. */
const reading = { strict: false, verifyBuffer: 0, verifyBudget: 0, spoolSize: 0 } as const;

function configOf(settings: MigrateSettings): ObjectsConfig {
  const { upstreamSigning, upstreamChecksum, reservedPrefix, stateBucket, format, bind } = settings;
  return {
    ...storeOf(settings),
    ...{ ...uncalled, ...reading, spoolDir: tmpdir() },
    ...{ upstreamSigning, upstreamChecksum, reservedPrefix, stateBucket },
    format: format === '2' ? 2 : 1,
    ...{ binding: bind, requireBound: false, unencryptedReads: 'allow' },
    recoveryRecipients: settings.recoveryRecipients ?? [],
    // inlining takes another copy of the object, and stores ignore conditions on copies
    inlineLimit: 0,
  };
}
