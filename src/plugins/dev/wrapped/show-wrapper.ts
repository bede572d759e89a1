import { SvcError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { changing, dataPath, type SecretsSource } from '../keys/set-up.ts';
import type { Pen } from '../report.ts';
import { lookEvery, rotationOf } from './protection.ts';
import { startWrappedDemo, type WrappedDemo, type WrappedTrip } from './wrapped-demo.ts';
import type { WrapperOptions, WrapperProcess } from './wrapper-process.ts';

export interface ShowOptions {
  /** Whether the demo is shown only once; then a failure fails the command. */
  readonly once: boolean;
  readonly say: (text: string) => void;
  readonly log: Logger;
  readonly pen: Pen;
  readonly signal: AbortSignal;
  /** `process.platform`, unless a test says otherwise. */
  readonly platform?: string;
}

/** The wrapper's part of `svc dev`. */
export interface ShownWrapper {
  /** For scripts; gives the reason if there is no wrapper. */
  readonly facts: object;
  /** Empty if there is no wrapper. */
  readonly tryText: readonly string[];
  readonly tryLines: WrappedTryLines | undefined;
  /** Shows the demo's output from now on, and reports if the wrapper ends by itself. */
  follow(): void;
  end(): Promise<void>;
}

/**
 * Starts a demo server under the wrapper and shows the secrets that it gets.
 * @throws SvcError DEV_WRAPPER if it fails with `once`; otherwise the failure is shown
 */
export async function showWrapper(source: SecretsSource, options: ShowOptions): Promise<ShownWrapper> {
  const { say, pen, signal, once, platform = process.platform } = options;
  if (platform !== 'linux') {
    say(withoutLinuxText(platform, pen));
    return without({ leftOut: `The wrapper needs Linux, and this is ${platform}` });
  }
  const following = follower(options);
  try {
    const demo = await startWrappedDemo(source, { signal, onLine: following.onLine });
    say(wrappedText(demo.trip, source, pen));
    return shown(source, demo, () => following.begin(demo.wrapper));
  } catch (error) {
    if (signal.aborted) return without({ leftOut: 'It was told to end' });
    if (once || !(error instanceof SvcError)) throw error;
    say(wrapperFailureText(error.message, pen));
    return without({ leftOut: error.message });
  }
}

const without = (facts: object): ShownWrapper => ({
  facts,
  tryText: [],
  tryLines: undefined,
  follow: () => undefined,
  end: async () => undefined,
});

function shown(source: SecretsSource, { trip, wrapper }: WrappedDemo, follow: () => void): ShownWrapper {
  const tryLines = wrappedTryLines(source, trip.demo);
  return {
    facts: factsOf(trip, wrapper),
    tryText: [wrappedTryText(tryLines)],
    tryLines,
    follow,
    end: () => wrapper.end(),
  };
}

function factsOf(trip: WrappedTrip, { pid, applicationPid }: WrapperProcess): object {
  const { demo, health, protection, answers, environment, rotated } = trip;
  const rotation = rotationOf(protection);
  return {
    demo,
    health,
    pid,
    applicationPid,
    ...protection,
    rotation,
    lookEvery,
    answers,
    environment,
    rotated,
  };
}

interface Follower {
  readonly onLine: WrapperOptions['onLine'];
  begin(wrapper: WrapperProcess): void;
}

/** Passes lines on after `follow`; before that, the report shows the relevant ones. */
function follower({ say, log, pen, signal }: ShowOptions): Follower {
  let following = false;
  return {
    onLine(line) {
      if (!following || signal.aborted) return;
      if (typeof line === 'string') return say(pen.paint('dim', line));
      log.warn('dev.wrapper.says', { wrapper_event: String(line['event']), error: String(line['error']) });
    },
    begin(wrapper) {
      following = true;
      void wrapper.ended.then((how) => {
        if (!signal.aborted) log.error('dev.wrapper.ended', endedFields(how));
      });
    },
  };
}

const endedFields = (how: string) => ({
  error: `The wrapper ended ${how}, and the demo with it; the key server, the store and the proxy keep running`,
  nextStep: 'Start `svc dev` again to have them back.',
});

const labelWidth = 17;

/** The demo under the wrapper, step by step. */
export function wrappedText(trip: WrappedTrip, { secrets }: SecretsSource, pen: Pen): string {
  const { demo, health, protection, answers, rotated } = trip;
  const restarted = rotationOf(protection) === 'restart';
  const held = Object.entries(secrets).map(([name, fields]) =>
    row(`secret/${name}`, Object.keys(fields).join(', ')),
  );
  return [
    pen.paint('bold', '4  What a program under the wrapper gets from the key server'),
    '',
    ...held,
    '',
    ...protection.concessions.flatMap((text) => [...wrapped(pen.paint, text, pen.width), '']),
    row('demo server', demo, pen.paint('dim', 'node dist/sdk/demo.js')),
    row('its wrapper', health, pen.paint('dim', '/healthz /readyz /metrics')),
    '',
    row('GET /', JSON.stringify(answers['/'])),
    row('GET /health', JSON.stringify(answers['/health'])),
    ...protectedRows(answers['/protected'].secrets.map((shown) => JSON.stringify(shown))),
    '',
    ...environmentLines(trip, pen),
    '',
    pen.paint(
      'bold',
      `6  A new version of secret/${changing.name}: ${restarted ? 'the demo was restarted' : 'no restart'}`,
    ),
    '',
    row('before', JSON.stringify(rotated.before)),
    row('after', pen.paint('green', JSON.stringify(rotated.after))),
    '',
  ].join('\n');
}

/** Why there is no wrapper: it needs Linux. */
function withoutLinuxText(platform: string, { paint }: Pen): string {
  return [
    paint('bold', '4  A program under the wrapper'),
    '',
    `   The wrapper needs Linux, and this is ${platform}: this part is left out.`,
    '',
  ].join('\n');
}

export function wrapperFailureText(reason: string, { paint, width }: Pen): string {
  return [
    paint('bold', '4  A program under the wrapper'),
    '',
    ...wrapped(paint, `${reason}. The key server, the store and the proxy keep running.`, width),
    '',
  ].join('\n');
}

function wrappedTryText({ change, see }: WrappedTryLines): string {
  return ['change a secret, and see it a second later:', '', change, see, ''].join('\n');
}

const row = (label: string, ...texts: readonly string[]): string =>
  `   ${label.padEnd(labelWidth)}${texts.join('  ')}`;

/** The unchanged answer, with line breaks between secrets. */
function protectedRows(secrets: readonly string[]): string[] {
  const lines = secrets.map((text, at) => row('', text + (at === secrets.length - 1 ? ']}' : ',')));
  return [row('GET /protected', '{"secrets":['), ...lines];
}

function environmentLines({ environment, protection }: WrappedTrip, { paint }: Pen): string[] {
  const { path, bytes, found, of } = environment;
  const verdict = found === 0 ? `none of the ${of} values` : `${found} of the ${of} values`;
  const where =
    protection.delivery === 'fd'
      ? 'in memfd_secret memory, which other processes cannot read'
      : 'in the environment: this machine admits no other way';
  return [
    paint('bold', `5  What the environment of the program holds: ${verdict}`),
    '',
    row('environment', `${path}: ${bytes} bytes, read just now`),
    row('the values', where),
  ];
}

function wrapped(paint: Pen['paint'], text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && 3 + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => `   ${paint('yellow', one)}`);
}

/** Shell commands that work as they are. */
export interface WrappedTryLines {
  /** Writes a new version of one of the demo's secrets. */
  readonly change: string;
  /** Shows the secrets that the demo has. */
  readonly see: string;
}

export function wrappedTryLines({ keyServer, tokens }: SecretsSource, demo: string): WrappedTryLines {
  const body = JSON.stringify({ data: { [changing.field]: 'v3-by-hand' } });
  const url = `${keyServer}/v1/${dataPath(changing.name)}`;
  return {
    change: `curl -s -H 'X-Vault-Token: ${tokens.writer}' -d '${body}' ${url}`,
    see: `curl -s ${demo}/protected`,
  };
}
