#!/usr/bin/env node
import { versionError } from './required-node.ts'

// Before all other modules: older versions of Node fail to link them, with a SyntaxError.
const error = versionError(process.versions.node)
if (error === undefined) await import('./program.ts')
else {
  console.error(error)
  process.exitCode = 2
}
