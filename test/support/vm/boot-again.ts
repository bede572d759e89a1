import { bootVm, VmStuck } from './boot.ts';
import type { VmOptions, VmResult } from './types.ts';

/**
 * As `bootVm`; a machine that is stuck is booted once more, and that is told. The emulator has failed now and then
 * (docs/adr/0005); a guard that locks a machine up would do so twice.
 */
export async function bootAgainWhenStuck(options: VmOptions): Promise<VmResult> {
  try {
    return await bootVm(options);
  } catch (error) {
    if (!(error instanceof VmStuck)) throw error;
    process.stderr.write(`The machine is booted once more, because it was stuck: ${error.message}\n`);
    return bootVm(options);
  }
}
