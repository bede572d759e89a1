import { NativeError } from '../native/native-error.ts';
import { explainLoadFailure } from './explain.ts';
import { bpfInt } from './libbpf.ts';
import { programHandles, willLoad } from './program.ts';
import { programLogs } from './program-logs.ts';

/** @throws BpfLoadError */
export function loadObject(name: string, object: bigint): void {
  const programs = [...programHandles(object)].filter(willLoad);
  const logs = programLogs(programs);
  try {
    bpfInt(name, 'bpf_object__load', object);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    throw explainLoadFailure({ name, object, programs, said: logs.said(), cause: error });
  } finally {
    logs.release();
  }
}
