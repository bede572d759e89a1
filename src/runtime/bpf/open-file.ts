import { withBytes, withMemory, withString } from '../native/c-memory.ts';
import { NativeError } from '../native/native-error.ts';
import { bpfInt, bpfPointer } from './libbpf.ts';
import { invalid } from './object-invalid.ts';
import { mapHandles, pinPath } from './object-maps.ts';

/** Of `struct bpf_object_open_opts`, up to the folder; libbpf takes the rest for zero. */
const length = 32;
const nameAt = 8;
const folderAt = 24;

const nowhere = 0n;

/**
 * @returns the address of a `struct bpf_object`
 * @throws SvcError BPF_OBJECT_INVALID
 */
export function openFile(file: Uint8Array, name: string, pinFolder: string | undefined): bigint {
  if (pinFolder !== undefined) return withString(pinFolder, (folder) => open(file, name, folder));
  const object = open(file, name, nowhere);
  // libbpf pins below /sys/fs/bpf where it is given no folder
  for (const map of mapHandles(object)) {
    if (pinPath(map) !== undefined) bpfInt(name, 'bpf_map__set_pin_path', map, nowhere);
  }
  return object;
}

function open(file: Uint8Array, name: string, folder: bigint): bigint {
  try {
    return withBytes(file, (bytes) =>
      withOptions(name, folder, (options) =>
        bpfPointer(name, 'bpf_object__open_mem', bytes, BigInt(file.length), options),
      ),
    );
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
    throw invalid(name, error);
  }
}

function withOptions(name: string, folder: bigint, use: (options: bigint) => bigint): bigint {
  return withString(name, (text) =>
    withMemory(length, ({ address, bytes }) => {
      bytes.writeBigUInt64LE(BigInt(length));
      bytes.writeBigUInt64LE(text, nameAt);
      bytes.writeBigUInt64LE(folder, folderAt);
      return use(address);
    }),
  );
}
