import { tmpdir } from 'node:os';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { storeOf } from '../../../runtime/object-store/settings.ts';
import { createVaultClient } from '../../../runtime/vault/client.ts';
import { HangGuard } from '../../../runtime/vault/hang-guard.ts';
import { vaultConfig } from '../../../runtime/vault/settings.ts';
import { createTransit } from '../../../runtime/vault/transit.ts';
import type { ProxyConfig } from '../config.ts';
import type { ProxyServices } from '../context.ts';
import { createContext } from '../start-process.ts';
import type { MigrateSettings } from './settings.ts';

export interface MigrateServices extends ProxyServices {
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
  const vault = createVaultClient({ config: vaultConfig(settings), log, onState: () => undefined });
  const hangGuard = new HangGuard({ timeoutMs: keyServerMs, log });
  const { transitMount: mount, transitKey: keyName } = settings;
  const transit = createTransit(vault, { mount, keyName, joinCalls: true });
  const metrics = { request() {}, refused() {}, bytes() {} };
  const config = configOf(settings);
  const context = createContext({ config, transit, hangGuard, metrics, log, env, keysAhead: true });
  void vault.start();
  return {
    ...context,
    async end() {
      context.close();
      await vault.close();
    },
  };
}

/** Settings of the server, which is not started. */
const uncalled = {
  listen: { host: '127.0.0.1', port: 0 },
  tls: undefined,
  callerKeys: undefined,
  hosts: [],
  allowAnonymous: false,
  accessLog: undefined,
  envelopeHeaders: 'shown',
  listSizes: 'stored',
  workers: 1,
} as const;

/** Nothing is replaced before the whole plaintext was verified, so none has to be held back until then. */
const reading = { strict: false, verifyBuffer: 0, verifyBudget: 0, spoolSize: 0 } as const;

function configOf(settings: MigrateSettings): ProxyConfig {
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
