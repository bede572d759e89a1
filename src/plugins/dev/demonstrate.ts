import { existsSync } from 'node:fs';
import { painter, widthOf } from '../../runtime/cli/terminal.ts';
import type { Component } from '../../runtime/component/contract.ts';
import { watchShutdown } from '../../runtime/lifecycle/shutdown.ts';
import { createLogger } from '../../runtime/logging/create-logger.ts';
import { type Pen, roundTripText, serversText, tryText } from './demo/report.ts';
import { type RoundTrip, roundTrip } from './demo/round-trip.ts';
import { tryLines } from './demo/try-lines.ts';
import { type Development, startDevelopment, usualPort } from './development.ts';

export interface Demonstration {
  readonly proxy: Component;
  /** End after the round trip. */
  readonly once: boolean;
  readonly dataFolder: string | undefined;
  readonly listen: string | undefined;
  /** Shows text to a person. */
  readonly say: (text: string) => void;
  /** Tells a script where everything is and what came of the round trip. */
  readonly tell: (facts: object) => void;
}

/** Milliseconds that requests in flight get when it is told to end. */
const graceMs = 10_000;

/**
 * Starts everything, shows the round trip, and stays up until a signal comes.
 * @returns the exit status: 0 after an orderly end, 1 when it took too long, 128+n after a second signal
 * @throws SvcError when something does not start, or the round trip fails
 */
export async function demonstrate(options: Demonstration): Promise<number> {
  const format = process.stderr.isTTY ? 'text' : 'json';
  const log = await createLogger({ component: 'dev', level: 'warn', format });
  const shutdown = watchShutdown(graceMs, log);
  const over = new AbortController();
  const signal = AbortSignal.any([shutdown.signal, over.signal]);
  try {
    const development = await startDevelopment({ ...options, log, signal });
    try {
      await show(development, options);
      if (!options.once) await Promise.race([aborted(shutdown.signal), development.closed]);
    } finally {
      over.abort();
      await Promise.race([development.closed, shutdown.cutShort]);
      await development.close();
    }
    return await Promise.race([shutdown.cutShort, Promise.resolve(0)]);
  } finally {
    shutdown.stopWatching();
  }
}

async function show({ facts }: Development, { say, tell, once, listen }: Demonstration): Promise<void> {
  const pen: Pen = {
    paint: painter(process.stdout, process.env),
    width: widthOf(process.stdout, process.env),
  };
  const moved = listen === undefined && !facts.proxy.endsWith(`:${usualPort}`);
  say(serversText(facts, { usualProxy: !moved }, pen));
  const trip = await roundTrip(facts);
  say(roundTripText(trip, pen));
  const lines = tryLines(facts, existsSync('README.md'));
  if (!once) say(tryText(lines, pen));
  tell({ ...facts, roundTrip: tripFacts(trip), ...(once ? {} : { try: lines }) });
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

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
