// What all pages show: a number in a file, read at the beginning of a render that takes its time.

import { appendFileSync, readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

export async function version(page, pause = 20) {
  const { VERSION_FILE: file, RENDERS_FILE: renders } = process.env
  // When it is built.
  if (file === undefined) return 0
  appendFileSync(renders, `${page}\n`)
  const read = Number(readFileSync(file, 'utf8'))
  await setTimeout(pause)
  return read
}
