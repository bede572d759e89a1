import { fullMessageOf } from '../../../core/errors.ts';
import { resolveSettings } from '../../../core/settings/resolve.ts';
import type { Component, Running } from '../../../runtime/component/contract.ts';
import { createHealth } from '../../../runtime/health/create-health.ts';
import { createMetrics } from '../../../runtime/health/create-metrics.ts';
import type { Env } from '../call.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import { quiet } from './quiet.ts';

export interface OwnProxy {
  readonly address: URL;
  close(): Promise<void>;
}

export interface OwnProxyOptions {
  readonly component: Component;
  /** What it is to be told beside the environment. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>;
  readonly env: Env;
  readonly version: string;
}

/** Starts the proxy in this process, on a port of the loopback that is free. @throws NotEvaluated where it does not start */
export async function startOwnProxy(options: OwnProxyOptions): Promise<OwnProxy> {
  const stop = new AbortController();
  try {
    const running = await start(options, stop.signal);
    return {
      address: new URL(`http://${running.facts['address']}`),
      async close() {
        stop.abort();
        await running.closed;
      },
    };
  } catch (cause) {
    throw new NotEvaluated(`The proxy does not start: ${fullMessageOf(cause)}`, undefined, cause);
  }
}

async function start(
  { component, flags, env, version }: OwnProxyOptions,
  signal: AbortSignal,
): Promise<Running> {
  const given = { ...flags, listen: '127.0.0.1:0', health: '', workers: '1' };
  const config = resolveSettings(component.settings, { flags: given, env }, component.check?.bind(component));
  const metrics = await createMetrics({ version, component: component.name });
  return component.start(config, { log: quiet, health: createHealth(), metrics, env }, signal);
}
