/** EX_CONFIG of sysexits(3), as for a configuration that is wrong. */
const STATUS = 78;

/** Whether a Node of such a version (`22.15.0`) has all that svc calls; 23 had it late, and gets no fixes any more. */
export function runsUnder(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > 23 || (major === 22 && minor >= 15);
}

/** Ends the process under a Node that cannot run svc; without this it would fail somewhere, in words of its own. */
export function requireNode(program) {
  if (runsUnder(process.versions.node)) return;
  console.error(
    `Error: ${program} needs Node 22.15 or later (not 23); here runs ${process.version}. (NODE_TOO_OLD)\n` +
      'Next:  Install a current Node from https://nodejs.org, or put one before it on the PATH.',
  );
  process.exit(STATUS);
}
