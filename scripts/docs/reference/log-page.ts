import { markdownTable } from '../../../test/plugins/agent/bypass/markdown-table.ts';
import { code, codes, lines } from '../operator/cell.ts';
import { initLogEvents } from './init-log-events.ts';
import { type LogEvent, logEvents } from './log-events.ts';
import { logMeanings } from './log-meanings.ts';

/** Whose log an event is in, by the folder or file that writes it, below src/ or, in C, beside it. */
const writers: readonly (readonly [heading: string, paths: readonly string[]])[] = [
  ['Encryption proxy', ['plugins/proxy/', 'plugins/bulk/', 'objects/', 'keyserver/']],
  ['Wrapper', ['plugins/wrapper/', 'init/']],
  ['Node agent', ['plugins/agent/', 'cluster/kube/reflect.ts']],
  ['Operator', ['plugins/operator/', 'cluster/']],
  ['Proxy, agent and operator', ['runtime/component/', 'runtime/lifecycle/']],
  ['`svc dev`', ['plugins/dev/']],
];

/** Every event of every log. */
export function logPage(): string[] {
  return [
    '# Log',
    '',
    'Each component writes one line per event to standard error: text for people on a terminal or with `SVC_LOG_FORMAT=text`,',
    'otherwise JSON:',
    '',
    ...['```text', example, '```', ''],
    '`SVC_LOG_LEVEL` is the lowest level that is written (default `info`). Lines have names, paths and numbers, never values',
    'of secrets, tokens or keys. After a failure, `error` says what failed, `code` is [one of these](errors.md) or of the',
    'system, `causes` are the underlying errors, and `nextStep` or `next` is what to do. Lines of the proxy about a request',
    'have its `requestId`, which the caller gets as `x-amz-request-id`, and its `operation`. Each event is followed by its',
    'level, each meaning by what to do; … stands for fields that differ.',
    '',
    'By symptom instead of by name: [TROUBLESHOOTING.md](../TROUBLESHOOTING.md).',
    ...writers.flatMap(([heading, paths]) => ['', `## ${heading}`, '', ...tableOf(paths)]),
    '',
    'The wrapper writes `start.failed`, `crashed` and `stopped` as the other components do. The output of an application is its own.',
  ];
}

const example = '{"level":"info","time":"2026-03-01T09:30:00.000Z","component":"proxy","event":"stopped"}';

/** Events by their names, sorted. @throws Error where one is written in a place that no heading is of */
export function eventsByName(): ReadonlyMap<string, readonly LogEvent[]> {
  const events = [...logEvents(), ...initLogEvents()];
  const known = writers.flatMap(([, paths]) => paths);
  const lost = events.find(({ path }) => !isBelow(path, known));
  if (lost !== undefined) throw new Error(`whose log is ${lost.name} of ${lost.path} in?`);
  return groupedByName(events);
}

const isBelow = (path: string, paths: readonly string[]): boolean =>
  paths.some((one) => path.startsWith(one) || path.startsWith(`src/${one}`));

function groupedByName(events: readonly LogEvent[]): ReadonlyMap<string, readonly LogEvent[]> {
  const names = [...new Set(events.map(({ name }) => name))].sort();
  return new Map(names.map((name) => [name, events.filter((event) => event.name === name)]));
}

function tableOf(paths: readonly string[]): string[] {
  const rows = [...eventsByName()].flatMap(([name, all]) => {
    const events = all.filter(({ path }) => isBelow(path, paths));
    return events.length === 0 ? [] : [rowOf(name, events)];
  });
  return markdownTable(['event', 'means', 'fields'], rows);
}

function rowOf(name: string, events: readonly LogEvent[]): string[] {
  const [means = '', todo = ''] = logMeanings[name] ?? [];
  const either = (texts: readonly string[]) => [...new Set(texts)];
  return [
    lines(code(name), either(events.flatMap(({ levels }) => levels)).join(', ')),
    lines(means, todo === '' ? '' : `→ ${todo}`),
    codes(either(events.flatMap(({ fields }) => fields))),
  ];
}
