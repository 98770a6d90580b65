// `npx -y pnpm@12 example` lists the suites, `example <suite>` its servers; `example <suite>/<server>` starts one. A suite with a
// tour starts that after its list, and the suite `stack` starts everything.

import {
  type Environment,
  firstEnd,
  runToEnd,
  startAttached,
  type StartedServer,
  startServer,
  stopAll,
} from './processes.ts'
import { type Example, type Suite, suites } from './suites.ts'

/** A mistake of the user, or a program that has failed and said why: no stack trace helps. */
class Failure extends Error {}

let isStopped = false
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    isStopped = true
    void stopAll()
  })
}

try {
  await runCommand(process.argv.slice(2).join('/'))
} catch (error) {
  if (!isStopped) {
    console.error(error instanceof Failure ? error.message : error)
    process.exitCode = 1
  }
} finally {
  await stopAll()
}

async function runCommand(argument: string): Promise<void> {
  const [suiteName = '', serverName = ''] = argument.replace(/\.ts$/, '').split('/')
  if (suiteName === '') return listSuites()
  const suite = suites[suiteName]
  if (!suite) throw new Failure(unknownSuite(suiteName))
  // A suite of one program that starts everything.
  const whole = suite[suiteName]
  if (whole && serverName === '') return runWhole(suiteName)
  if (serverName === '') return showSuite(suiteName, suite)
  const example = suite[serverName]
  if (!example) throw new Failure(unknown('server', `${suiteName}/${serverName}`, Object.keys(suite)))
  await (example === whole ? runWhole(suiteName) : runExample(suiteName, serverName, example))
}

async function showSuite(suiteName: string, suite: Suite): Promise<void> {
  listServers(suiteName, suite)
  if (!suite['tour']) return
  console.log('\nStarting the tour:')
  await runExample(suiteName, 'tour', suite['tour'])
}

async function runWhole(suiteName: string): Promise<void> {
  startAttached(new URL(`${suiteName}/${suiteName}.ts`, import.meta.url), {})
  const code = await firstEnd()
  if (!isStopped && code !== 0) throw new Failure(`${suiteName} has ended with code ${code}.`)
}

function listSuites(): void {
  for (const [name, suite] of Object.entries(suites)) console.log(`${name}: ${Object.keys(suite).join(', ')}`)
  console.log('\nStart one by: npx -y pnpm@12 example <suite>/<server>')
}

function listServers(suiteName: string, suite: Suite): void {
  const width = Math.max(...Object.keys(suite).map((name) => name.length))
  for (const [name, { description }] of Object.entries(suite)) console.log(`${name.padEnd(width)}   ${description}`)
  console.log(`\nStart one by: npx -y pnpm@12 example ${suiteName}/<server>`)
}

function unknownSuite(name: string): string {
  const found = Object.entries(suites).find(([, suite]) => name in suite)
  if (found) return `Unknown suite "${name}". Did you mean ${found[0]}/${name}?`
  return unknown('suite', name, Object.keys(suites))
}

function unknown(kind: string, name: string, known: readonly string[]): string {
  return `Unknown ${kind} "${name}": expected one of ${known.join(', ')}.`
}

async function runExample(suiteName: string, serverName: string, example: Example): Promise<void> {
  if (example.nextBuild !== undefined) await buildNext(example.nextBuild)
  const upstream = example.callsUpstreams ? (process.env['UPSTREAM'] ?? (await startUpstreams())) : undefined
  const env = {
    ...example.env,
    ...serverEnvironment(process.env['PORT']),
    ...(upstream !== undefined && { UPSTREAM: upstream }),
    ...(example.nextBuild !== undefined && { NEXT_VARIANT: example.nextBuild }),
  }
  const ports = await startServer(new URL(`${suiteName}/${serverName}.ts`, import.meta.url), env)
  if (!ports) throw new Failure(`${suiteName}/${serverName} has ended before it listened.`)
  const behind = upstream === undefined ? '' : `, with upstreams at ${upstream}`
  console.log(`${suiteName}/${serverName} listens at ${origin(ports.server)}${behind}. Try:\n`)
  for (const request of example.requests) console.log(`  ${addressed(request, ports)}`)
  console.log('\nCtrl-C stops it.')
  const code = await firstEnd()
  if (!isStopped) throw new Failure(`${suiteName}/${serverName} has ended with code ${code}.`)
}

async function buildNext(variant: string): Promise<void> {
  console.log('Building the Next app, which takes up to a minute unless it is built already.')
  const code = await runToEnd(new URL('next/build.ts', import.meta.url), { NEXT_VARIANT: variant })
  if (code !== 0) throw new Failure(`The build of the Next app has ended with code ${code}.`)
}

async function startUpstreams(): Promise<string> {
  const ports = await startServer(new URL('gateway/upstreams.ts', import.meta.url), serverEnvironment(undefined))
  if (!ports) throw new Failure('gateway/upstreams has ended before it listened.')
  return origin(ports.server)
}

function serverEnvironment(port: string | undefined): Environment {
  return { HOST: process.env['HOST'] ?? '127.0.0.1', PORT: port ?? '0', NODE_ENV: 'production' }
}

function origin(port: string): string {
  const host = process.env['HOST'] ?? '127.0.0.1'
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host}:${port}`
}

function addressed(request: string, { server, admin = '' }: StartedServer): string {
  return request.replace('{url}', origin(server)).replace('{admin}', origin(admin))
}
