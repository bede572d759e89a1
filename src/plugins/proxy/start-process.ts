import { timingSafeEqual } from 'node:crypto';
import { certificateErrorCode } from '../../core/certificate-errors.ts';
import { S3Error } from '../../core/s3/error.ts';
import type { ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { untilAborted } from '../../runtime/lifecycle/until-aborted.ts';
import { describeError } from '../../runtime/logging/describe-error.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { keepHeapSmall } from '../../runtime/memory/small-heap.ts';
import { Connections } from '../../runtime/net/connections.ts';
import { createVaultClient, type ExchangingVaultClient } from '../../runtime/vault/client.ts';
import { vaultConfig } from '../../runtime/vault/config.ts';
import { isVaultError } from '../../runtime/vault/errors.ts';
import { createTransit } from '../../runtime/vault/transit.ts';
import type { ProxyConfig } from './config.ts';
import { createContext, type OwnedContext } from './create-context.ts';
import { createAuthenticate } from './inbound/authenticate.ts';
import { BodyBudget, RequestSlots } from './inbound/body-budget.ts';
import type { DataKeys } from './keys/data-keys.ts';
import { createProxyMetrics } from './proxy-metrics.ts';
import { type Check, type Conditions, type Failing, watchReadiness } from './readiness/watch.ts';
import { createRoutes } from './routes.ts';
import { createDispatch } from './server/dispatch.ts';
import { type S3Server, startServer } from './server/server.ts';
import type { ResolvedProxySettings } from './settings.ts';
import { AnswerRoom } from './upstream/answer-room.ts';
import { createUpstream, type UpstreamConfig, type UpstreamParts } from './upstream/create-upstream.ts';
import { reasonOf } from './upstream/failures.ts';
import { refusal } from './upstream/refusal.ts';

/** Milliseconds that a caller may keep a request waiting without a byte. */
const stallMs = 60_000;

/**
 * What callers may make this process hold, so that it stays within 128 MiB whatever they do. A worker has these bounds
 * for itself.
 */
const connectionBounds = { connections: 512, requests: 8, staleMs: 5_000 };
const requestsAtOnce = 128;
const bodyBytes = 4 * 1024 * 1024;
const answerBytes = 2 * 1024 * 1024;

export interface ProcessOptions {
  readonly config: ProxyConfig;
  readonly settings: ResolvedProxySettings;
  readonly deps: ComponentDeps;
  /** Told what keeps this process from serving: no token (`vault`), no wrapping or unwrapping (`keys`), no `store`. */
  readonly conditions: Conditions;
}

/** Serves S3 in this process until `signal` is aborted and everything in flight has been answered. */
export async function startProcess(options: ProcessOptions, signal: AbortSignal): Promise<Running> {
  const { config, settings, deps, conditions } = options;
  const { log, env } = deps;
  keepHeapSmall();
  let onLogin = (): void => undefined;
  const vault = createVaultClient({
    config: vaultConfig(settings),
    log,
    onState({ ready, reason }) {
      if (!ready) return conditions.notReady('vault', reason);
      conditions.ready('vault');
      onLogin();
    },
  });
  const metrics = createProxyMetrics(deps.metrics);
  const transit = createTransit(vault, { mount: settings.transitMount, keyName: settings.transitKey });
  const context = createContext({ config, transit, metrics, log, env });
  try {
    const connections = new Connections(connectionBounds);
    const dispatch = createDispatch({
      context,
      metrics,
      authenticate: createAuthenticate(config),
      routes: createRoutes(),
      stallMs,
      draining: () => signal.aborted,
      bodies: new BodyBudget(bodyBytes),
      slots: new RequestSlots(requestsAtOnce, () => connections.endStale()),
      answers: new AnswerRoom(answerBytes),
    });
    const server = await startServer(config.listen, dispatch, connections);
    void vault.start();
    const checks = [keyCheck(context.keys, config), storeCheck(config, context.trust)];
    onLogin = watchReadiness(checks, { conditions, log, signal });
    return {
      facts: facts(config, server),
      closed: drained(server, signal).finally(() => close(context, vault)),
    };
  } catch (error) {
    await close(context, vault);
    throw error;
  }
}

const facts = (config: ProxyConfig, server: S3Server) => ({
  address: server.address,
  upstream: config.upstream.origin,
  callers: config.callerKeys === undefined ? 'not authenticated' : 'authenticated',
});

async function drained(server: S3Server, signal: AbortSignal): Promise<void> {
  await untilAborted(signal);
  await server.drain();
}

async function close(context: OwnedContext, vault: ExchangingVaultClient): Promise<void> {
  context.close();
  await vault.close();
}

/**
 * Whether keys can be wrapped and unwrapped as those of objects are: a fresh key goes there and back, bound to a name
 * that no object of a caller has. Nothing is ever encrypted by it.
 */
function keyCheck(keys: DataKeys, { reservedPrefix }: Pick<ProxyConfig, 'reservedPrefix'>): Check {
  const name = { bucket: 'ready', key: `${reservedPrefix}ready` };
  return {
    condition: 'keys',
    run: (signal) => thereAndBack(keys, name, signal),
    explain(error) {
      if (!isVaultError(error)) return { reason: describeError(error).error };
      const { message: reason, nextStep, kind } = error;
      // Each refusal has the client log in again, which it may do a few times a minute only.
      return { reason, nextStep, lasting: kind === 'denied' };
    },
  };
}

const purpose = { kind: 'object' } as const;

async function thereAndBack(
  keys: DataKeys,
  name: { readonly bucket: string; readonly key: string },
  signal: AbortSignal,
): Promise<void> {
  const [fresh] = await keys.create(name, [purpose], signal);
  if (fresh === undefined) throw new Error('no key was wrapped');
  try {
    const [back] = await keys.unwrap(name, keys.scheme, [{ wrapped: fresh.ciphertext, purpose }], signal);
    const same = back !== undefined && timingSafeEqual(back, fresh.key);
    back?.fill(0);
    if (!same) throw new Error('The key server unwraps another key than it has wrapped');
  } finally {
    fresh.key.fill(0);
  }
}

/** S3 lets nobody make a bucket whose name begins like this, so that nobody gets to see the requests for it. */
const nobodysBucket = 'amzn-s3-demo-svc-ready';
const limits = { sockets: 1, connectMs: 4_000, idleMs: 4_000 };

export interface StoreCheckConfig extends UpstreamConfig {
  readonly stateBucket: string | undefined;
  readonly reservedPrefix: string;
}

/**
 * Whether the store can be reached, its certificate is trusted, and it knows the credentials: a signed GET of an object
 * that is not there, over a connection of its own, so that each run proves the certificate anew and none waits for
 * callers. It needs no permission: any answer will do but one that the credentials themselves are wrong.
 */
function storeCheck(config: StoreCheckConfig, parts: Omit<UpstreamParts, 'limits'>): Check {
  const { stateBucket: bucket = nobodysBucket, reservedPrefix } = config;
  const request = { method: 'GET', bucket, key: `${reservedPrefix}ready` };
  return {
    condition: 'store',
    async run(signal) {
      await parts.credentials();
      const upstream = createUpstream(config, untold, { ...parts, limits });
      try {
        const { code } = await refusal(await upstream.send({ ...request, signal }).catch(unreached));
        if (wrongCredentials.has(code)) throw new Refused(code);
      } finally {
        upstream.close();
      }
    },
    explain,
  };
}

/** What is wrong is told once, and not by each run. */
const untold: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => untold };

/** Without a right to the object it is AccessDenied, which says that they are known. */
const wrongCredentials: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

/** No answer: the cause is that of the connection. */
class Unreached extends Error {
  override readonly name = 'Unreached';
}

function unreached(error: unknown): never {
  if (!(error instanceof S3Error) || error.code !== 'ServiceUnavailable') throw error;
  throw new Unreached(error.message, { cause: error.cause });
}

class Refused extends Error {
  override readonly name = 'Refused';

  constructor(code: string) {
    super(`The object store refuses the proxy's own credentials (${code})`);
  }
}

function explain(error: unknown): Failing {
  const certificate = certificateErrorCode(error);
  if (certificate !== undefined) {
    const reason = `The certificate of the object store is not trusted (${certificate})`;
    return { reason, nextStep: 'Give its authority, as a PEM file, in AWS_CA_BUNDLE.' };
  }
  if (error instanceof Unreached) {
    const reason = `The object store cannot be reached (${reasonOf(error.cause)})`;
    return { reason, nextStep: 'Check --upstream, the name service and the egress policy.' };
  }
  if (error instanceof Refused) {
    const nextStep = "Check the proxy's AWS_* variables or its role, AWS_REGION and the clock.";
    return { reason: error.message, nextStep };
  }
  return { reason: describeError(error).error };
}
