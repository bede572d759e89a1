#!/usr/bin/env -S -u NODE_OPTIONS SVC_NODE_OPTIONS=${NODE_OPTIONS} node
import './no-debugger.js';
import { createRequire } from 'node:module';
import { requireNode } from './require-node.js';

requireNode('svc-wrapper');
createRequire(import.meta.url)('../dist/wrapper.cjs');
