import { checkStatus } from '../../core/checks/contract.ts';
import { exitStatus } from '../../core/errors.ts';
import { BaseCommand } from './base-command.ts';
import type { Failure } from './failure.ts';

/** A command that checks something: its statuses tell "not evaluated" and "called wrongly" from "failed". */
export abstract class CheckCommand extends BaseCommand {
  protected override statusOf({ code, exitStatus: status }: Failure): number {
    const wronglyCalled = code === 'USAGE' || status === exitStatus.config || status === checkStatus.usage;
    return wronglyCalled ? checkStatus.usage : checkStatus.notEvaluated;
  }

  /** An error is an object wherever the result would be one. */
  override jsonEnabled(): boolean {
    const asked = this.argv.join(' ');
    return /(^| )(--json|-o[ =]?json|--output[ =]json)( |$)/.test(asked);
  }
}
