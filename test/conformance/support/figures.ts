const mib = 1024 ** 2;

/** Bytes as MiB with one decimal. */
export const inMib = (bytes: number): string => `${(bytes / mib).toFixed(1)} MiB`;

/** What one proxy may hold in memory, whatever it is sent: the container's limit is 128 MiB. Bytes. */
export const residentBound = 112 * mib;
