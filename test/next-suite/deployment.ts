// What the scripts of one deployment share: files in the folder of the app, which is the working directory.

import { existsSync, globSync, readFileSync } from 'node:fs'

/** Output of the installation and the build, and of the server. */
export const BUILD_LOG = '.next-on-fastify-build.log'
export const SERVER_LOG = '.next-on-fastify-server.log'
/** The process ID of the server. */
export const PID_FILE = '.next-on-fastify.pid'

/** The lines by which Next's tests know a deployment. */
export function markers(): string {
  const file = globSync('{.next,*,*/*}/BUILD_ID')[0]
  if (file === undefined) throw new Error('No build: expected a file BUILD_ID in the folder of the build.')
  const id = readFileSync(file, 'utf8').trim()
  // Without an ID of the app, the lines still need one.
  const deployment = deploymentIdOf(file) || 'next-on-fastify'
  return `BUILD_ID: ${id}\nDEPLOYMENT_ID: ${deployment}\nNEXT_SUPPORTS_IMMUTABLE_ASSETS: 0\n`
}

function deploymentIdOf(file: string): string | undefined {
  const manifest = file.replace(/BUILD_ID$/, 'required-server-files.json')
  if (!existsSync(manifest)) return undefined
  const { config } = JSON.parse(readFileSync(manifest, 'utf8')) as { config: { deploymentId?: string } }
  return config.deploymentId
}

/** The text of a file, or nothing. */
export function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
