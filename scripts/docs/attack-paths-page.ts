import {
  type AccessPathRow,
  accessPathRows,
  type Fate,
  lacking,
  wrapperRows,
} from '../../test/plugins/agent/bypass/access-paths.ts';
import { fateOf } from '../../test/plugins/agent/bypass/expectation.ts';
import { markdownTable } from '../../test/plugins/agent/bypass/markdown-table.ts';
import { tokenAttempts } from '../../test/plugins/agent/tokens/attack-paths.ts';

const words: Readonly<Record<Fate, string>> = {
  denied: 'denied',
  killed: 'killed',
  refused: 'refused',
  open: '**not covered**',
};

/** docs/ATTACK-PATHS.md: what the suites beside this file measure. */
export const attackPathsFile = new URL('../../docs/ATTACK-PATHS.md', import.meta.url);

export function attackPathsPage(): string {
  return [
    ...head,
    ...table(),
    ...notes(),
    ...races,
    ...code,
    ...cgroups(),
    ...tokens(),
    ...wrappers(),
    ...machines(),
    '',
  ].join('\n');
}

const head = [
  '# Attack paths to protected processes',
  '',
  '[All pages](README.md)',
  '',
  '<!-- Written by `npm run docs`; a test compares it. -->',
  '',
  'The outcome of each attempt to read the environment or memory of a protected process, by root too, on each tier.',
  'Each cell is measured by `test/plugins/agent/bypass` with the real agent: all tiers in a virtual machine with a Debian',
  'kernel, tier 3 also on the machine that runs the tests. Without the agent, every path leaks the secret; exceptions',
  'on particular machines are named below.',
  '',
  '- **denied**: the call fails with `EACCES` or `EPERM`.',
  '- **killed**: the reader gets SIGKILL before it runs again and has read nothing.',
  '- **seen**: the attempt succeeds and is reported.',
  '- **refused**: the process is not registered (`FAILED_PRECONDITION`), so it gets no secret.',
  '- **not covered**: the attempt succeeds and is not reported.',
  '',
  'Every denied, killed or seen attempt is reported exactly once, with the path in the last column, the source,',
  'the target and the system call. With `enforceMode: false`, attempts that are denied or killed here are only seen, on every tier.',
  '',
];

function table(): string[] {
  const rows = accessPathRows.map((row) => {
    const [hooked, traced] = [fateOf(row, { tier: 1 }), fateOf(row, { tier: 3 })];
    const hasCgroup = row.onlyCgroup ? { by: 'cgroup' as const } : {};
    const second = fateOf(row, { tier: 2, ...hasCgroup });
    const watched = fateOf(row, { tier: 3, kill: false });
    const cells = [
      words[hooked],
      words[second],
      words[traced],
      watched === 'killed' ? 'seen' : words[watched],
    ];
    return [`\`${row.path}\`${mark(row)}`, row.title, ...cells, reportOf(row)];
  });
  const tiers = ['Tier 1, LSM', 'Tier 2, fmod_ret', 'Tier 3, reactive kill', 'Tier 3'];
  return [...markdownTable(['Path', 'Attempt', ...tiers, 'Reported as'], rows), ''];
}

function reportOf({ report, tracedReport }: AccessPathRow): string {
  if (report === undefined) return '';
  return tracedReport === undefined ? `\`${report}\`` : `\`${report}\`, on tier 3 \`${tracedReport}\``;
}

const noted = accessPathRows.filter(({ note }) => note !== undefined);

function mark(row: AccessPathRow): string {
  const index = noted.indexOf(row);
  return index < 0 ? '' : ` (${index + 1})`;
}

function notes(): string[] {
  return [...noted.map(({ note }, index) => `${index + 1}. ${note}`), ''];
}

const places = {
  both: 'everywhere',
  'the virtual machine': 'in the virtual machine',
  'this machine': 'on a machine without that device',
  arm64: 'on arm64',
} as const;

/** What `reactive-kill.long.server.test.ts` races against. */
const races = [
  '## What tier 3 cannot hold',
  '',
  'A signal ends the reader; it does not stop the call. With `reactiveKill`, 0 of 500 readers that open and read get the',
  'secret, because the kernel copies no memory for a process that is about to be killed. Nor does any of 500 with',
  'several threads, one of which reads the descriptor before its opening has returned, into memory that outlives the',
  'process: they are looked at once more as the kernel locks the memory to copy it (`mmap_lock_start_locking`, since Linux',
  '5.11; where a kernel does not have it, the agent says so, and 1 to 26 of 500 were quicker). Who manages to put a',
  'harmless file at the number of that descriptor between the two looks is taken for a reader of that file; no test tries',
  'that. A descriptor that `pidfd_getfd` or `perf_event_open` made stays with a process that shares the table of',
  'descriptors and no threads (`CLONE_FILES` without `CLONE_THREAD`); no test tries that either. Tiers 1 and 2 deny before',
  'anything happens, and have no such race.',
  '',
];

const code = [
  '## Code that root brings in',
  '',
  'A process and its children may read what is theirs. So whoever has a program run in their place needs no way to read them: the',
  'child inherits the environment, and the protection, too. The agent guards the one switch for this that the machine has only',
  'once: while something is protected, nobody writes files of `binfmt_misc` (`--guard-interpreters`). What was registered, or',
  'opened for writing, before that stays: `/proc/sys/fs/binfmt_misc` lists it.',
  '',
  'It does not guard the files of containers, and no row claims so: `/proc/PID/root`, the folders of image layers, a mount that is',
  'moved in, `/etc/ld.so.preload`, a library that is overwritten in place while it is mapped. A hook on one of these would',
  'leave the others, and runtimes need most of them: `kubectl exec` and `kubectl cp` enter the mounts of a container, and layers',
  'are unpacked where root would write. `readOnlyRootFilesystem` binds the container, not root on the node. What would help is',
  'files that root cannot change unnoticed: images on dm-verity or fs-verity (composefs), enforced by IMA appraisal or IPE on nodes',
  'that boot only signed kernels; or containers in a virtual machine whose image the node does not hold in clear (Kata). No test',
  'tries these.',
  '',
];

function cgroups(): string[] {
  const exceptions = accessPathRows
    .filter(({ byCgroup }) => byCgroup !== undefined)
    .map(({ path }) => `\`${path}\``);
  return [
    '## Covered by the cgroup alone',
    '',
    'A pod that is labelled `svc/protected=true` is covered without registering, by the id of its cgroup (v2). The table',
    `holds for its processes, too, with ${exceptions.length === 1 ? 'one exception' : 'these exceptions'}: ${exceptions.join(', ')} is not covered then. A process stays covered when`,
    'root moves it into another cgroup.',
    '',
  ];
}

function tokens(): string[] {
  return [
    '## The token of a wrapper',
    '',
    'The volume `svc-wrapper-token` opens for the first process of each container that mounts it, and for the kubelet, and so a',
    'login with what others read fails for want of a token. `test/plugins/agent/tokens` measures each on tier 1, before and after',
    'the kubelet has replaced the token, and without the agent. Every attempt is reported as `token`. Tier 3 sees them, and kills',
    'if it may, which no test tries. What the kubelet opens for others, by its log server, is neither denied nor reported:',
    'the [threat model](THREAT-MODEL.md) says how to turn that off.',
    '',
    ...markdownTable(
      ['Attempt', 'Tier 1, LSM'],
      Object.values(tokenAttempts).map((title) => [title, words.denied]),
    ),
    '',
  ];
}

function wrappers(): string[] {
  return [
    '## Closed by the wrapper',
    '',
    ...markdownTable(
      ['Path', 'Attempt', 'Closed by'],
      wrapperRows.map(({ path, title, how }) => [`\`${path}\``, title, how]),
    ),
    '',
  ];
}

function machines(): string[] {
  return [
    '## Not on every machine',
    '',
    'These lead nowhere even without the agent, so that the cells above say only that nothing is read.',
    '',
    ...markdownTable(
      ['Path', 'Where', 'Because'],
      lacking.map(({ path, on, because }) => [`\`${path}\``, places[on], because]),
    ),
  ];
}
