import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';

/** The signals for which a process has a handler. */
export function caughtSignals(pid: number): Set<string> {
  return signalsOf(readFileSync(`/proc/${pid}/status`, 'utf8'), 'SigCgt');
}

/** A set of signals out of the text of /proc/PID/status. */
export function signalsOf(status: string, field: 'SigCgt' | 'SigIgn' | 'SigBlk'): Set<string> {
  const mask = BigInt(`0x${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`);
  const named = Object.entries(constants.signals).filter(([, number]) => (mask >> BigInt(number - 1)) & 1n);
  return new Set(named.map(([name]) => name));
}

/** The command lines of all processes that have this argument. */
export function processesWith(argument: string): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(commandLine).filter((line) => line.split('\0').includes(argument));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
