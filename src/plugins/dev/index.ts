import { existsSync } from 'node:fs';
import { painter, widthOf } from '../../runtime/cli/terminal.ts';
import type { Component, ComponentDeps, Running } from '../../runtime/component/contract.ts';
import { svcVersion } from '../../runtime/component/package-folder.ts';
import { readConfig } from '../../runtime/component/read-config.ts';
import { watchShutdown } from '../../runtime/component/run-component.ts';
import { createMetrics } from '../../runtime/health/create-metrics.ts';
import { createHealth } from '../../runtime/health/health.ts';
import { startHealthServer } from '../../runtime/health/health-server.ts';
import { untilAborted } from '../../runtime/lifecycle/wait.ts';
import { createLogger } from '../../runtime/logging/create-logger.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { listenAddress } from '../../runtime/settings/listen-address.ts';
import { createCertificate, type DevelopmentCertificate } from './certificate.ts';
import type { SecretsSource } from './keys/set-up.ts';
import { givenAddress, startNear } from './listen.ts';
import { endText, type Pen, roundTripText, serversText, tryLines, tryText } from './report.ts';
import { type Facts, type RoundTrip, roundTrip } from './round-trip.ts';
import { type Servers, startServers } from './servers.ts';
import { stage } from './stage.ts';
import { type ShownWrapper, showWrapper } from './wrapped/show-wrapper.ts';

export interface Demonstration {
  readonly proxy: Component;
  /** End after the round trips. */
  readonly once: boolean;
  readonly dataFolder: string | undefined;
  readonly listen: string | undefined;
  /** Serve clients over TLS, with a new certificate. */
  readonly tls: boolean;
  /** Shows text to a person. */
  readonly say: (text: string) => void;
  /** Prints addresses and results of the round trips as JSON, for scripts. */
  readonly tell: (facts: object) => void;
}

/** How long requests in flight may take after the signal to end, in ms. */
const graceMs = 10_000;

/**
 * Starts everything, shows the round trips, and stays up until a signal arrives.
 * @returns the exit status: 0 after an orderly end, 1 if the end took too long, 128+n after a second signal
 * @throws SvcError if something does not start, or a round trip fails
 */
export async function demonstrate(options: Demonstration): Promise<number> {
  const format = process.stderr.isTTY ? 'text' : 'json';
  const log = createLogger({ component: 'dev', level: 'warn', format });
  const shutdown = watchShutdown(graceMs, log);
  const over = new AbortController();
  const signal = AbortSignal.any([shutdown.signal, over.signal]);
  try {
    const development = await stage(
      'The start of the servers',
      startDevelopment({ ...options, log, signal }),
    );
    let wrapper: ShownWrapper | undefined;
    const show = async () => {
      const pen = penFor(process.stdout);
      const trip = await stage('The round trip', showRoundTrip(development, options, pen));
      wrapper = await showWrapper(development.secrets, { ...options, log, pen, signal });
      if (!signal.aborted) showRest(development, options, { pen, trip, wrapper });
      if (!options.once) await Promise.race([untilAborted(shutdown.signal), development.closed]);
    };
    const end = async () => {
      over.abort();
      const ended = Promise.all([wrapper?.end(), development.closed]);
      await Promise.race([stage('The end of the wrapper and the proxy', ended), shutdown.cutShort]);
    };
    await inTurn(show, end, () => stage('The end of the servers', development.close()));
    return await Promise.race([shutdown.cutShort, Promise.resolve(0)]);
  } finally {
    shutdown.stopWatching();
  }
}

/** Runs every part even if earlier ones fail. @throws the first error, which likely causes the others */
async function inTurn(...parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

const penFor = (screen: NodeJS.WriteStream): Pen => ({
  paint: painter(screen, process.env),
  width: widthOf(screen, process.env),
});

async function showRoundTrip(
  { facts }: Development,
  { say, listen }: Demonstration,
  pen: Pen,
): Promise<RoundTrip> {
  const moved = listen === undefined && !facts.proxy.endsWith(`:${usualPort}`);
  say(serversText(facts, { usualProxy: !moved }, pen));
  const trip = await roundTrip(facts);
  say(roundTripText(trip, pen));
  return trip;
}

/** Shows what to try next, and all facts for scripts. */
function showRest(
  { facts }: Development,
  { say, tell, once }: Demonstration,
  { pen, trip, wrapper }: { pen: Pen; trip: RoundTrip; wrapper: ShownWrapper },
): void {
  const lines = tryLines(facts, existsSync('README.md'));
  const shown = { ...facts, roundTrip: tripFacts(trip), wrapper: wrapper.facts };
  if (!once) say([tryText(lines, pen), ...wrapper.tryText, endText(pen)].join('\n'));
  tell(once ? shown : { ...shown, try: { ...lines, ...wrapper.tryLines } });
  wrapper.follow();
}

/** Bodies in hexadecimal. */
function tripFacts({ bucket, key, written, stored, read }: RoundTrip) {
  const { body, metadata } = stored;
  return {
    bucket,
    key,
    written: written.toString('hex'),
    stored: body.toString('hex'),
    metadata,
    read: read.toString('hex'),
    equal: read.equals(written),
  };
}

export interface DevelopmentOptions {
  /** The proxy, loaded by the command because plugins do not import each other. */
  readonly proxy: Component;
  /** `--listen`; undefined: the usual port or a free one. */
  readonly listen: string | undefined;
  /** `--data`; undefined: memory. */
  readonly dataFolder: string | undefined;
  /** `--tls` */
  readonly tls: boolean;
  readonly log: Logger;
  /** Aborted when everything must drain and end. */
  readonly signal: AbortSignal;
}

export interface Development {
  readonly facts: Facts;
  readonly secrets: SecretsSource;
  /** Resolves when the proxy has drained; rejects if it failed; then call `close`. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export const usualPort = 8190;
const usualHealthPort = 8191;
const region = 'us-east-1';

/** Key server, object store and the proxy in front of them, all on loopback. @throws SvcError */
export async function startDevelopment(options: DevelopmentOptions): Promise<Development> {
  const servers = await startServers(options.dataFolder, options.log);
  let certificate: DevelopmentCertificate | undefined;
  try {
    certificate = options.tls ? await createCertificate(servers.dataFolder) : undefined;
    return await startProxy(options, servers, certificate);
  } catch (error) {
    certificate?.remove();
    await servers.close();
    throw error;
  }
}

async function startProxy(
  options: DevelopmentOptions,
  servers: Servers,
  certificate: DevelopmentCertificate | undefined,
): Promise<Development> {
  const { proxy, listen } = options;
  const health = createHealth();
  const ownMetrics = () => createMetrics({ version: svcVersion(), component: proxy.name });
  let metrics = await ownMetrics();
  const source = { snapshot: health.snapshot, expose: () => metrics.expose() };
  const healthServer = await startNear(usualHealthPort, (at) => startHealthServer(parseAddress(at), source));
  const close = async () => {
    await healthServer.close();
    await servers.close();
    certificate?.remove();
  };
  const start = async (at: string) => {
    metrics = await ownMetrics(); // new for each attempt: one that failed has registered its own
    return runProxy(options, proxyEnvironment(servers, at, certificate), { health, metrics });
  };
  try {
    const running = await (listen === undefined ? startNear(usualPort, start) : start(givenAddress(listen)));
    const { address } = running.facts;
    const facts = factsOf(servers, {
      proxy: address,
      health: healthServer.address,
      caFile: certificate?.caFile,
    });
    return { facts, secrets: servers.secrets, closed: running.closed, close };
  } catch (error) {
    await healthServer.close();
    throw error;
  }
}

async function runProxy(
  { proxy, log, signal }: DevelopmentOptions,
  env: Readonly<Record<string, string>>,
  observed: Pick<ComponentDeps, 'health' | 'metrics'>,
): Promise<Running> {
  const { own } = await readConfig(proxy, { env });
  return proxy.start(own, { log, env, ...observed }, signal);
}

const { parse: parseAddress } = listenAddress();

/** The proxy's whole environment: variables of this process might configure the proxy differently. */
function proxyEnvironment(
  { keyServer, store, proxyToken }: Servers,
  listen: string,
  certificate: DevelopmentCertificate | undefined,
): Readonly<Record<string, string>> {
  const { certFile, keyFile } = certificate ?? {};
  return {
    SVC_PROXY_LISTEN: listen,
    ...(certFile && keyFile && { SVC_PROXY_TLS_CERT: certFile, SVC_PROXY_TLS_KEY: keyFile }),
    SVC_PROXY_UPSTREAM: store.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: store.accessKeyId,
    AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
    VAULT_ADDR: keyServer.url,
    VAULT_AUTH_METHOD: 'token',
    VAULT_TOKEN: proxyToken,
  };
}

/** Clients require keys; the proxy on loopback does not. */
const client = { region, accessKeyId: 'dev', secretAccessKey: 'development' };

function factsOf(
  { keyServer, store, dataFolder }: Servers,
  { proxy, health, caFile }: { proxy: string | undefined; health: string; caFile: string | undefined },
): Facts {
  return {
    proxy: `${caFile === undefined ? 'http' : 'https'}://${proxy}`,
    ...(caFile === undefined ? {} : { caFile }),
    health: `http://${health}`,
    keyServer: keyServer.url,
    store: store.url,
    peek: store.peekUrl,
    dataFolder,
    client,
  };
}
