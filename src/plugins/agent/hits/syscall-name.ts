/** System calls that can lead to a hit: the number on x64, then on arm64. */
const numbers: Readonly<Record<string, readonly [x64: number, arm64: number | undefined]>> = {
  // Opening
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  open_by_handle_at: [304, 265],
  // Reading and writing what was opened
  read: [0, 63],
  write: [1, 64],
  pread64: [17, 67],
  pwrite64: [18, 68],
  readv: [19, 65],
  writev: [20, 66],
  sendfile: [40, 71],
  splice: [275, 76],
  preadv: [295, 69],
  pwritev: [296, 70],
  copy_file_range: [326, 285],
  preadv2: [327, 286],
  pwritev2: [328, 287],
  io_submit: [209, 2],
  io_uring_enter: [426, 426],
  // Another process's memory, descriptors and limits
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  perf_event_open: [298, 241],
  prlimit64: [302, 261],
};

type Architecture = 'x64' | 'arm64';

const names: Readonly<Record<Architecture, ReadonlyMap<number, string>>> = {
  x64: new Map(Object.entries(numbers).map(([name, [x64]]) => [x64, name])),
  arm64: new Map(
    Object.entries(numbers).flatMap(([name, [, arm64]]) => (arm64 === undefined ? [] : [[arm64, name]])),
  ),
};

/** Undefined for a number that is none of those, and on other architectures. */
export function syscallName(number: number, arch: string = process.arch): string | undefined {
  return arch === 'x64' || arch === 'arm64' ? names[arch].get(number) : undefined;
}
