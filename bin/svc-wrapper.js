#!/usr/bin/env node
import { createRequire } from 'node:module';
import { requireNode } from './require-node.js';

requireNode('svc-wrapper');
createRequire(import.meta.url)('../dist/wrapper.cjs');
