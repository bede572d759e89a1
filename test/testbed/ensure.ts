import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { TestEvent } from '../runner/events.ts';
import { ToolUnavailable } from '../support/tool-unavailable.ts';
import { cacheRoot, toolDir } from './cache.ts';
import { CATALOG } from './catalog.ts';
import { withLock } from './lock.ts';
import { ensureLibrary, ensureSystemTool } from './system.ts';
import type { Availability, CachedRecipe, Tool, ToolName } from './types.ts';
import { knownUnavailable } from './unavailable.ts';

const known = new Map<ToolName, Promise<Tool>>();

/**
 * Installs or builds the tool unless it is there. Several processes may ask at the same time:
 * one builds, the others wait for it.
 * @throws ToolUnavailable when it cannot be had on this machine
 */
export function requireTool(name: ToolName): Promise<Tool> {
  let tool = known.get(name);
  if (!tool) {
    tool = install(name);
    known.set(name, tool);
  }
  return tool;
}

/** As `requireTool`, with the failure as a value. */
export async function ensureTool(name: ToolName): Promise<Availability> {
  try {
    return { available: true, tool: await requireTool(name) };
  } catch (error) {
    if (error instanceof ToolUnavailable) return { available: false, name, reason: error.reason };
    throw error;
  }
}

async function install(name: ToolName): Promise<Tool> {
  const recipe = CATALOG[name];
  const known = knownUnavailable(name);
  if (known !== undefined) throw new ToolUnavailable(name, known);
  try {
    if (recipe.kind === 'cached') return await ensureCached(name, recipe);
    const onInstall = () => say(name, `installing Debian package ${recipe.debianPackage}`);
    return recipe.kind === 'system'
      ? await ensureSystemTool(name, recipe, onInstall)
      : await ensureLibrary(name, recipe, onInstall);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(name, `cannot be had: ${reason}`);
    throw new ToolUnavailable(name, reason, { cause: error });
  }
}

/** The runner of tests has no time pass for a suite that waits for a tool. */
async function withoutTimeLimit(build: () => Promise<void>): Promise<void> {
  tellRunner({ type: 'building' });
  await build().finally(() => tellRunner({ type: 'built' }));
}

function tellRunner(event: TestEvent): void {
  if (process.connected) process.send?.(event);
}

/** Builds the recipe into the cache unless it is there; throws what the build throws. */
export async function ensureCached(name: ToolName, recipe: CachedRecipe): Promise<Tool> {
  const dir = toolDir(name, recipe);
  if (!(await exists(dir))) {
    const wait = () => say(name, 'waiting for another run that builds it');
    await withoutTimeLimit(() => withLock(dir, () => buildUnlessThere(name, recipe, dir), wait));
  }
  const bins = Object.entries(recipe.bins).map(([command, path]) => [command, join(dir, path)]);
  return { name, version: recipe.version, bins: Object.fromEntries(bins) };
}

async function buildUnlessThere(name: ToolName, recipe: CachedRecipe, dir: string): Promise<void> {
  if (await exists(dir)) return;
  say(name, `building ${recipe.version}`);
  const start = performance.now();
  await mkdir(cacheRoot(), { recursive: true });
  await sweep(dir);
  const temporary = await mkdtemp(`${dir}.tmp-`);
  try {
    await recipe.build(temporary);
    await rename(temporary, dir);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
  say(name, `ready after ${((performance.now() - start) / 1000).toFixed(1)} s`);
}

/** What builds that were killed left; the lock is held, so nobody is at work there. */
async function sweep(dir: string): Promise<void> {
  for (const entry of await readdir(dirname(dir))) {
    if (entry.startsWith(`${basename(dir)}.tmp-`)) await rm(join(dirname(dir), entry), { recursive: true });
  }
}

function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function say(name: ToolName, text: string): void {
  process.stderr.write(`test bed: ${name}: ${text}\n`);
}
