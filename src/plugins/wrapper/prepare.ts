import { reportFailure } from '../../runtime/component/report-failure.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { descriptorSink } from '../../runtime/logging/stderr-sink.ts';
import { parseArguments } from './arguments.ts';
import { helpText } from './help.ts';
import { configuredLogger, earlyLogger } from './loggers.ts';
import { readConfig, type WrapperConfig } from './read-config.ts';
import { wrapperVersion } from './version.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What to run, or the exit status where nothing is to run. */
export type Prepared = { readonly config: WrapperConfig; readonly log: Logger } | { readonly status: number };

const standardOutput = 1;

/**
 * Reads the command line and the configuration. Mistakes have been logged, and help or version shown,
 * where a status comes back.
 * @param env VAULT_TOKEN may hold anything that is not the token: only its presence counts
 */
export function prepare(argv: readonly string[], env: Env): Prepared {
  try {
    const { shows, ...given } = parseArguments(argv);
    if (shows !== undefined) return show(shows === 'help' ? helpText() : `svc-wrapper ${wrapperVersion()}`);
    const config = readConfig({ ...given, env });
    const log = configuredLogger(config.settings);
    for (const remark of config.remarks) log.warn('config.remark', { remark });
    return { config, log };
  } catch (error) {
    return { status: reportFailure(earlyLogger(env), 'start.failed', error) };
  }
}

function show(text: string): Prepared {
  descriptorSink(standardOutput).write(`${text}\n`);
  return { status: 0 };
}
