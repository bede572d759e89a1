import { chmodSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { chown, cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall } from '../apt.ts';
import { exec } from '../exec.ts';
import type { CachedRecipe } from '../types.ts';

const OVERLAY = fileURLToPath(new URL('../node-image', import.meta.url));
const SUITE = 'bookworm';
/** `kdump` and its like are recommended by the kernel, and left out with all that is only recommended. */
const PACKAGES = [
  ...['systemd', 'systemd-sysv', 'dbus', 'linux-image-cloud-amd64', 'kmod', 'qemu-guest-agent'],
  ...['runc', 'containernetworking-plugins', 'iptables', 'iproute2', 'mount', 'util-linux', 'conntrack'],
  ...['ca-certificates', 'procps', 'socat', 'bpftool'],
  // what root of a node attacks with
  ...['gdb-minimal', 'busybox-static'],
];
const LEFT_OUT = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*'];
const ENABLED = ['systemd-networkd', 'outside', 'containerd', 'kubelet', 'kube-proxy', 'connect-proxy'];
/** What a node of a test has no use for, and an emulated processor works on for seconds. */
const MASKED = [
  ...['apt-daily.timer', 'apt-daily-upgrade.timer', 'dpkg-db-backup.timer', 'e2scrub_all.timer'],
  ...['e2scrub_reap.service', 'fstrim.timer', 'getty@tty1.service', 'serial-getty@ttyS0.service'],
  ...['systemd-logind.service', 'systemd-networkd-wait-online.service', 'systemd-pstore.service'],
  ...['modprobe@efi_pstore.service', 'systemd-tmpfiles-clean.timer', 'systemd-hwdb-update.service'],
];
const SIZE = '6G';

/**
 * Debian with systemd and its own kernel, containerd's surroundings and units for what /node brings; a disk to boot in
 * QEMU with its `vmlinuz` and `initrd`. Needs root, and half a gigabyte.
 */
export const nodeImage: CachedRecipe = {
  kind: 'cached',
  version: SUITE,
  id: [SUITE, SIZE, ...PACKAGES, ...ENABLED, ...MASKED, ...overlay()].join('\n'),
  bins: { disk: 'disk', vmlinuz: 'vmlinuz', initrd: 'initrd' },
  async build(dir) {
    await aptInstall(['mmdebstrap']);
    const root = join(dir, 'root');
    await exec('mmdebstrap', [
      ...['--mode=root', '--variant=minbase', '--format=directory', `--include=${PACKAGES.join(',')}`],
      ...LEFT_OUT.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
      ...['--aptopt=Acquire::Languages "none"', SUITE, root],
    ]);
    await configure(root);
    for (const name of ['vmlinuz', 'initrd']) {
      const [file = ''] = globSync(`${name}*`, { cwd: join(root, 'boot') });
      await rename(join(root, 'boot', file), join(dir, name));
    }
    await exec('mke2fs', ['-q', '-t', 'ext4', '-m', '0', '-d', root, join(dir, 'disk'), SIZE]);
    await rm(root, { recursive: true });
  },
};

/** Its files with their contents. */
function overlay(): string[] {
  const files = globSync('**', { cwd: OVERLAY, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return paths.map((path) => `${path.slice(OVERLAY.length)}\n${readFileSync(path, 'utf8')}`);
}

async function configure(root: string): Promise<void> {
  await cp(OVERLAY, root, { recursive: true });
  await chownTree(join(root, 'etc'));
  mkdirSync(join(root, 'node'));
  await rm(join(root, 'etc/resolv.conf'), { force: true });
  await writeFile(join(root, 'etc/resolv.conf'), '');
  chmodSync(join(root, 'etc'), 0o755);
  await exec('chroot', [root, 'systemctl', '--quiet', 'enable', ...ENABLED]);
  await exec('chroot', [root, 'systemctl', '--quiet', 'mask', ...MASKED]);
}

/** The clone may belong to somebody else. */
async function chownTree(folder: string): Promise<void> {
  const names = globSync('**', { cwd: OVERLAY });
  await Promise.all(names.map((name) => chown(join(folder, '..', name), 0, 0)));
}
