#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { requireNode } from './require-node.js';
import { withShippedNode } from './shipped-node.js';

// First of all: Node answers SIGUSR1 by opening a debugger's port, by which tokens and keys can be read.
process.on('SIGUSR1', () => {});
await withShippedNode(fileURLToPath(import.meta.url));
requireNode('svc');
module.enableCompileCache?.();
await import('../dist/main.js');
