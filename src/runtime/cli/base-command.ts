import { Command } from '@oclif/core/command';
import { exitStatus, SvcError } from '../errors.ts';
import { pluginLabel } from '../plugin-host.ts';
import { checkStatus } from '../report/check-outcome.ts';
import { describeFailure, type Failure, failureJson, formatFailure, isOclifError } from './failure.ts';
import { painter } from './terminal.ts';

/** Base of every svc command: prints errors with their next step to standard error, or as an object under `--json`. */
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

/** `this.exit()` in a command throws, which is not a failure. */
function isExit(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'EEXIT';
}

/** A command that checks something: its statuses separate "not evaluated" and "wrong usage" from "failed". */
export abstract class CheckCommand extends BaseCommand {
  protected override statusOf({ code, exitStatus: status }: Failure): number {
    const wronglyCalled = code === 'USAGE' || status === exitStatus.config || status === checkStatus.usage;
    return wronglyCalled ? checkStatus.usage : checkStatus.notEvaluated;
  }

  /** Errors are objects whenever the result would be one. */
  override jsonEnabled(): boolean {
    const asked = this.argv.join(' ');
    return /(^| )(--json|-o[ =]?json|--output[ =]json)( |$)/.test(asked);
  }
}

/**
 * The exit status of a check command: 3 for wrong usage, 4 if something could not be evaluated. Errors of svc itself
 * keep theirs.
 */
export function asCheckError(error: Error): Error {
  if (error instanceof SvcError) return withStatus(error, statusOf(error));
  if (isOclifError(error) && (error as NodeJS.ErrnoException).code !== 'EEXIT') {
    return Object.assign(error, { oclif: { ...error.oclif, exit: checkStatus.usage } });
  }
  return error;
}

function statusOf({ code }: SvcError): number {
  return /^(CONFIG_INVALID|KUBE_UNTRUSTED)$/.test(code) ? checkStatus.usage : checkStatus.notEvaluated;
}

function withStatus(error: SvcError, exitStatus: number): SvcError {
  const { code, message, nextStep, details, cause } = error;
  return new SvcError(code, message, { nextStep, details, exitStatus, cause });
}
