import { dirname } from 'node:path';
import { withString } from '../native/c-memory.ts';
import { NativeError } from '../native/native-error.ts';
import { makeBpfFolder } from './file-system.ts';
import { bpfInt, bpfPointer, loadLibbpf } from './libbpf.ts';

/** What keeps a program attached: this handle, and the path where it is pinned. */
export interface BpfLink {
  readonly descriptor: number;
  /**
   * Lets it survive this process. To let go, unlink the path.
   * @throws NativeError such as EEXIST, SvcError BPF_FILE_SYSTEM_UNAVAILABLE
   */
  pin(path: string): void;
  /** Gives up the handle: detaches unless the link is pinned. Repeat calls are harmless. */
  destroy(): void;
}

/** @throws NativeError ENOENT where nothing is pinned */
export function openPinnedLink(path: string): BpfLink {
  return withString(path, (address) => linkOver(path, bpfPointer(path, 'bpf_link__open', address)));
}

/** @param address of a `struct bpf_link`, which belongs to the result from now on */
export function linkOver(name: string, address: bigint): BpfLink {
  let handle: bigint | undefined = address;
  const descriptor = loadLibbpf().int('bpf_link__fd', address);
  return {
    descriptor,
    pin(path) {
      if (handle === undefined) throw new TypeError(`The link of ${name} has been destroyed`);
      pinLink(name, handle, path);
    },
    destroy() {
      if (handle === undefined) return;
      const last = handle;
      handle = undefined;
      bpfInt(name, 'bpf_link__destroy', last);
    },
  };
}

function pinLink(name: string, handle: bigint, path: string): void {
  makeBpfFolder(dirname(path));
  const value = withString(path, (address) => loadLibbpf().int('bpf_link__pin', handle, address));
  if (value < 0) throw new NativeError(`bpf_link__pin (${name}, ${path})`, -value);
}
