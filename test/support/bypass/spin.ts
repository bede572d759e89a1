import { startLineProcess } from './line-process.ts';
import type { HammerResult } from './types.ts';

/** Readers with threads that read the coming descriptor while another opens environ; one after the other. */
export async function spin(
  program: string,
  { pid, marker }: { readonly pid: number; readonly marker: string },
  count: number,
): Promise<Omit<HammerResult, 'longestGapMicros'>> {
  const args = ['spin', '--pid', String(pid), '--marker', marker, '--count', String(count)];
  const child = await startLineProcess(program, args);
  const result = await child.next<Omit<HammerResult, 'longestGapMicros'>>();
  child.close();
  await child.exited;
  return result;
}
