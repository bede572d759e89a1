import { reportFailure } from '../../runtime/component/report-failure.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { descriptorSink } from '../../runtime/logging/stderr-sink.ts';
import { parseArguments } from './arguments.ts';
import { nodeOptions } from './delivery/inherited.ts';
import { helpText } from './help.ts';
import { copyFolder } from './install/copy-folder.ts';
import { installFolder } from './install/install-folder.ts';
import { isSelfContained, ownFolder } from './install/own-folder.ts';
import { configuredLogger, earlyLogger } from './loggers.ts';
import { readConfig, type WrapperConfig } from './read-config.ts';
import { wrapperVersion } from './version.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What to run, or the exit status where nothing is to run. */
export type Prepared = { readonly config: WrapperConfig; readonly log: Logger } | { readonly status: number };

const standardOutput = 1;

/**
 * Reads the command line and the configuration. Mistakes have been logged, help or version shown, or the
 * wrapper's folder copied where a status comes back.
 * @param env VAULT_TOKEN may hold anything that is not the token: only its presence counts
 */
export function prepare(argv: readonly string[], env: Env): Prepared {
  try {
    const { shows, copyTo, installTo, ...given } = parseArguments(argv);
    if (shows !== undefined) return show(shows === 'help' ? helpText() : `svc-wrapper ${wrapperVersion()}`);
    if (copyTo !== undefined) return copyOwnFolder(copyTo, env);
    if (installTo !== undefined) return installOwnFolder(installTo, env);
    const config = readConfig({ ...given, env });
    const log = configuredLogger(config.settings);
    for (const remark of [...config.remarks, ...preloads(env)]) log.warn('config.remark', { remark });
    return { config, log };
  } catch (error) {
    return { status: reportFailure(earlyLogger(env), 'start.failed', error) };
  }
}

/** What has run by now cannot be undone; the Node of a self-contained folder does not know the variable. */
function preloads(env: Env): string[] {
  if (!env[nodeOptions] || isSelfContained()) return [];
  return [
    `${nodeOptions}: was in force in the wrapper's own Node as well, so that what it loads could read the token; start svc-wrapper by its name and not by node`,
  ];
}

function copyOwnFolder(to: string, env: Env): Prepared {
  const files = copyFolder(ownFolder(), to);
  earlyLogger(env).info('folder.copied', { to, files });
  return { status: 0 };
}

function installOwnFolder(to: string, env: Env): Prepared {
  const installed = installFolder(ownFolder(), to);
  earlyLogger(env).info('folder.installed', { to, ...installed });
  return { status: 0 };
}

function show(text: string): Prepared {
  descriptorSink(standardOutput).write(`${text}\n`);
  return { status: 0 };
}
