#!/usr/bin/env node
// NEXT_TEST_CLEANUP_SCRIPT_PATH of Next's own test suite: stops the server of a deployment.

import { rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { PID_FILE, textOf } from './deployment.ts'

/** The server closes open streams after 8 s. */
const PATIENCE = 12_000

/** Sends a signal, or asks by 0 whether the process runs. Returns false if it has ended. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

const pid = Number(textOf(PID_FILE))
if (pid > 0) {
  const end = Date.now() + PATIENCE
  signal(pid, 'SIGTERM')
  while (signal(pid, 0) && Date.now() < end) await setTimeout(100)
  signal(pid, 'SIGKILL')
  rmSync(PID_FILE)
}
