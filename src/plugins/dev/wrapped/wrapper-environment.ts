import { type Protection, rotationOf } from './protection.ts';
import { fieldsOf, type SecretsSource } from './secrets-source.ts';

/** How often the wrapper looks for new versions, in Go's form. */
export const lookEvery = '1s';

/** All that the wrapper and the demo below it are told; nothing else of this process's own environment. */
export function wrapperEnvironment(
  { keyServer, secrets, tokens }: SecretsSource,
  protection: Protection,
  port: number,
): Record<string, string | undefined> {
  const { delivery, requireMlock } = protection;
  return {
    PATH: process.env['PATH'],
    VAULT_ADDR: keyServer,
    VAULT_AUTH_METHOD: 'token',
    VAULT_TOKEN: tokens.reader,
    SVC_SECRET_PATHS: Object.keys(secrets)
      .map((name) => `secret/${name}`)
      .join(','),
    SVC_DELIVERY: delivery,
    SVC_ROTATION: rotationOf(protection),
    RENEWAL_INTERVAL: lookEvery,
    SVC_REQUIRE_MLOCK: String(requireMlock),
    SVC_REQUIRE_MEMFD_SECRET: String(delivery === 'fd'),
    SVC_STOP_GRACE: '2s',
    SVC_LOG_FORMAT: 'json',
    HEALTH_ADDR: '127.0.0.1:0',
    HOST: '127.0.0.1',
    PORT: String(port),
    DEMO_KEYS: delivery === 'env' ? fieldsOf(secrets).join(',') : undefined,
  };
}
