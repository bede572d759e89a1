import { Command } from '@oclif/core/command';
import { pluginLabel } from '../plugin-host/plugin-label.ts';
import { describeFailure, type Failure, failureJson, formatFailure } from './failure.ts';
import { painter } from './terminal.ts';

/** Every command of svc: errors with their next step on standard error, the same as an object under `--json`. */
export abstract class BaseCommand extends Command {
  protected override async catch(error: Error): Promise<void> {
    if (isExit(error)) throw error;
    const failure = this.describe(error);
    if (this.jsonEnabled()) this.logJson(failureJson(failure));
    else process.stderr.write(`${formatFailure(failure, painter(process.stderr, process.env))}\n`);
    if (/^(INTERNAL|PLUGIN_BROKEN)$/.test(failure.code) && process.env['SVC_DEBUG'])
      process.stderr.write(`${error.stack}\n`);
    this.exit(this.statusOf(failure));
  }

  protected statusOf({ exitStatus }: Failure): number {
    return exitStatus;
  }

  protected override toErrorJson(error: unknown): object {
    return failureJson(this.describe(error));
  }

  private describe(error: unknown): Failure {
    const words = [this.config.bin, ...(this.id ?? '').split(':')].filter(Boolean);
    return describeFailure(error, words.join(' '), pluginLabel(this.ctor.plugin));
  }
}

/** `this.exit()` inside a command throws; that is an ending and not a failure. */
function isExit(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIT';
}
