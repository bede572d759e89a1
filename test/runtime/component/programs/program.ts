import type { Component, Running } from '../../../../src/runtime/component/contract.ts';
import { runComponent } from '../../../../src/runtime/component/run-component.ts';
import { listenAddressOrOff } from '../../../../src/runtime/settings/listen-address.ts';
import { integer, type Settings, text } from '../../../../src/runtime/settings/setting.ts';

const settings = {
  health: {
    variable: 'DEMO_HEALTH',
    flag: 'health',
    summary: '',
    fallback: '127.0.0.1:0',
    ...listenAddressOrOff(),
  },
  size: { variable: 'DEMO_SIZE', flag: 'size', summary: '', fallback: '5', ...integer(1, 10) },
  password: { variable: 'DEMO_PASSWORD', summary: '', secret: true, ...text() },
} satisfies Settings;

export type Demo = Component<typeof settings>;

/** Runs a component named demo as the command does, and exits with its status. */
export async function runDemo(demo: Pick<Demo, 'start' | 'check'>): Promise<never> {
  const flags = process.argv.includes('--size') ? { size: process.argv.at(-1) } : {};
  return process.exit(await runComponent({ name: 'demo', settings, ...demo }, { flags, env: process.env }));
}

/** Keeps the process alive as an open server does, until `closed` settles. */
export function openServer(
  closed: Promise<void>,
  facts: Running['facts'] = { address: '127.0.0.1:1' },
): Running {
  const open = setInterval(() => {}, 1000);
  return { facts, closed: closed.finally(() => clearInterval(open)) };
}

export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
