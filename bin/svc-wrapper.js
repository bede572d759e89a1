#!/usr/bin/env -S -u NODE_OPTIONS SVC_NODE_OPTIONS=${NODE_OPTIONS} node
import { createRequire } from 'node:module';
import { requireNode } from './require-node.js';

// Before the wrapper listens to it itself: Node answers SIGUSR1 by opening a debugger's port.
process.on('SIGUSR1', () => {});
requireNode('svc-wrapper');
createRequire(import.meta.url)('../dist/wrapper.cjs');
