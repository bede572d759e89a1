import { existsSync } from 'node:fs';
import { painter, widthOf } from '../../runtime/cli/terminal.ts';
import type { Component } from '../../runtime/component/contract.ts';
import { watchShutdown } from '../../runtime/lifecycle/shutdown.ts';
import { untilAborted } from '../../runtime/lifecycle/until-aborted.ts';
import { createLogger } from '../../runtime/logging/create-logger.ts';
import { endText, type Pen, roundTripText, serversText, tryText } from './demo/report.ts';
import { type RoundTrip, roundTrip } from './demo/round-trip.ts';
import { tryLines } from './demo/try-lines.ts';
import { type Development, startDevelopment, usualPort } from './development.ts';
import { stage } from './stage.ts';
import { type ShownWrapper, showWrapper } from './wrapped/show-wrapper.ts';

export interface Demonstration {
  readonly proxy: Component;
  /** End after the round trips. */
  readonly once: boolean;
  readonly dataFolder: string | undefined;
  readonly listen: string | undefined;
  /** Shows text to a person. */
  readonly say: (text: string) => void;
  /** Tells a script where everything is and what came of the round trips. */
  readonly tell: (facts: object) => void;
}

/** Milliseconds that requests in flight get when it is told to end. */
const graceMs = 10_000;

/**
 * Starts everything, shows the round trips, and stays up until a signal comes.
 * @returns the exit status: 0 after an orderly end, 1 when it took too long, 128+n after a second signal
 * @throws SvcError when something does not start, or a round trip fails
 */
export async function demonstrate(options: Demonstration): Promise<number> {
  const format = process.stderr.isTTY ? 'text' : 'json';
  const log = await createLogger({ component: 'dev', level: 'warn', format });
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

/** Does each, whatever becomes of those before. @throws what the first of them that fails throws: others follow from it */
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

/** What to try from here on, and all of it for a script. */
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
