// Node answers SIGUSR1 by opening a debugger's port, by which tokens and keys can be read. Until this runs it still does:
// what has been opened by then is closed, now and when the signal of a moment ago has been handled.
process.on('SIGUSR1', () => {});

/** Who asks for a debugger on the command line has one. */
const asked = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((option) =>
  /--inspect(?!-port)/.test(option),
);

function closeDebugger() {
  const inspector = process.getBuiltinModule?.('node:inspector');
  if (inspector?.url() !== undefined) inspector.close();
}

if (!asked) {
  closeDebugger();
  // the signal of a moment ago is handled by another thread, in its own time
  const looks = setInterval(closeDebugger, 100).unref();
  setTimeout(() => clearInterval(looks), 10_000).unref();
}
