import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceBytes } from './elf.mjs';

/*
 * A container's application may be root and write /etc and /lib. So that nothing there becomes code of a worker, the folder's
 * programs look below /svc, by names of the same length: for libraries to preload, the cache and the folders of libraries,
 * modules for look-ups of names and for character sets, locales (which are parsed in place), a daemon that answers look-ups, and
 * OpenSSL's configuration, which may name providers. Text of the system (hosts, resolv.conf) and time zones are read as before.
 */

/** @returns for each file, what it names and what it shall name; every place counts, also one without an end */
const renamings = ({ triplet, loader }) => ({
  [`lib/${loader}`]: [
    ['/etc/ld.so.', '/svc/ld.so.'],
    [
      `/lib/${triplet}/\0/usr/lib/${triplet}/\0/lib/\0/usr/lib/\0`,
      `/svc/${triplet}/\0/svc/lib/${triplet}/\0/svc/\0/svc/lib/\0`,
    ],
  ],
  'lib/libc.so.6': [
    ['/etc/nsswitch.co', '/svc/nsswitch.co'],
    ['/var/run/nscd/so', '/svc/run/nscd/so'],
    [`/usr/lib/${triplet}/gconv`, `/svc/lib/${triplet}/gconv`],
    ['/usr/lib/locale', '/svc/lib/locale'],
  ],
  'bin/node': [['\0/etc/ssl\0', '\0/svc/ssl\0']],
});

/** What glibc has built in; further modules would be the system's. */
const NSSWITCH = 'hosts: files dns\n';

const CHANGES = `The names of system files in the loader and in libc.so.6 were replaced by names of the same length below /svc
(scripts/lib/wrapper-folder/system-files.mjs of svc), and the loader was made to ignore LD_PRELOAD (elf.mjs there). MANIFEST.json
names the packages that they are from.
`;

/** To be called when the folder's programs, libraries and licences are there. */
export function renameSystemFiles(folder, names) {
  for (const [file, pairs] of Object.entries(renamings(names))) {
    const path = join(folder, file);
    const content = readFileSync(path);
    for (const [from, to] of pairs) {
      if (replaceBytes(content, Buffer.from(from), Buffer.from(to)) === 0)
        throw new Error(`Found ${from.replaceAll('\0', ' ').trim()} nowhere in ${path}.`);
    }
    writeFileSync(path, content);
  }
  writeFileSync(join(folder, 'nsswitch.conf'), NSSWITCH);
  writeFileSync(join(folder, 'licenses', 'glibc-changes'), CHANGES);
}
