import type { Pen } from '../demo/report.ts';
import { changing } from './example-secrets.ts';
import { rotationOf } from './protection.ts';
import type { SecretsSource } from './secrets-source.ts';
import type { WrappedTryLines } from './try-lines.ts';
import type { WrappedTrip } from './wrapped-demo.ts';

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

/** Where there is no wrapper: it is made of what Linux has. */
export function withoutLinuxText(platform: string, { paint }: Pen): string {
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
    ...wrapped(paint, `${reason}. The key server, the store and the proxy go on.`, width),
    '',
  ].join('\n');
}

export function wrappedTryText({ change, see }: WrappedTryLines): string {
  return ['change a secret, and see it a second later:', '', change, see, ''].join('\n');
}

const row = (label: string, ...texts: readonly string[]): string =>
  `   ${label.padEnd(labelWidth)}${texts.join('  ')}`;

/** The answer as it is, with line breaks between secrets. */
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
