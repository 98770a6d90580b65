// Reads a configuration file: JSON with environment variables, or a module whose default export it is.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { checkOptions, invalidOption, reasonOf } from 'checked-options'
import { InvalidConfigError } from '../errors.ts'
import type { JwtAuthenticationOptions } from '../jwt/jwt-options.ts'
import type { Authenticator } from '../options/authentication.ts'
import type { CreateAggregatorGatewayOptions } from '../options/gateway-options.ts'
import { configSchema } from './config-schema.ts'
import type { GatewayConfig } from './define-config.ts'
import { type UnusableVariables, withEnvironment } from './environment.ts'

/** Names that are looked for, in this order. */
const FILES = ['gateway.json', 'gateway.config.ts', 'gateway.config.js', 'gateway.config.mjs', 'gateway.config.json']
/** Options of Fastify that concern the server, which is the command's. */
const OF_SERVER = ['http2', 'https', 'serverFactory']

export interface LoadedConfig {
  readonly port: number
  readonly host: string
  readonly stopTimeout: number
  readonly options: CreateAggregatorGatewayOptions
}

/**
 * Returns the path of the configuration file.
 *
 * @throws AGGREGATOR_GATEWAY_INVALID_CONFIG when there is none
 */
export function findConfig(given: string | undefined, folder: string): string {
  const names = given === undefined ? FILES : [given]
  const found = names.map((name) => resolve(folder, name)).find((path) => existsSync(path))
  if (found !== undefined) return found
  throw new InvalidConfigError(
    given === undefined ? `No configuration file: expected ${FILES.join(', ')}` : `No file ${given}`,
  )
}

/** @throws AGGREGATOR_GATEWAY_INVALID_CONFIG with the file and the path of the option in one line */
export async function loadConfig(
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  const file = basename(path)
  const fail = (problem: string, cause?: unknown): Error =>
    Object.assign(new InvalidConfigError(`${file}: ${problem.replaceAll(/\s+/g, ' ')}`), { cause })
  const unusable: UnusableVariables = { missing: [], malformed: [] }
  const config = withEnvironment(await read(path, fail), environment, unusable)
  const { missing, malformed } = unusable
  if (malformed.length > 0) {
    const expected = 'expected ${NAME} or ${NAME:-default}. Write $${ for the text ${.'
    throw fail(`Invalid variables (${malformed.join(', ')}): ${expected}`)
  }
  if (missing.length > 0) {
    throw fail(`Missing environment variables: ${missing.map(({ name, where }) => `${name} (${where})`).join(', ')}`)
  }
  const checked = checkOptions(configSchema, config, (message) => fail(message))
  const port = Number(checked.port)
  if (port > 65_535) throw fail(invalidOption('port', 'a port from 0 to 65535', checked.port))
  const server = OF_SERVER.find((name) => name in checked.fastify)
  if (server !== undefined) throw fail(`Invalid option "fastify.${server}": the command serves HTTP/1.1 without TLS.`)
  const {
    $schema: _,
    port: _port,
    host: _host,
    stopTimeout: _timeout,
    authentication,
    ...options
  } = config as GatewayConfig
  const authenticator = await authenticatorOf(authentication, fail)
  return {
    port,
    host: checked.host,
    stopTimeout: checked.stopTimeout,
    options: {
      ...options,
      fastify: { ...loggerOf(options), ...options.fastify },
      ...(authenticator && { authentication: authenticator }),
    },
  }
}

/** A command without a log would hide why calls fail, and each call if `callLogLevel` asks for them. */
function loggerOf({ fastify = {}, callLogLevel = 'silent' }: CreateAggregatorGatewayOptions): Logger {
  if (fastify.loggerInstance) return {}
  const isVerbose = callLogLevel === 'trace' || callLogLevel === 'debug' || callLogLevel === 'info'
  return { logger: { level: isVerbose ? callLogLevel : 'warn' } }
}

interface Logger {
  readonly logger?: { readonly level: string }
}

type Fail = (problem: string, cause?: unknown) => Error

async function read(path: string, fail: Fail): Promise<unknown> {
  if (!path.endsWith('.json')) return await importConfig(path, fail)
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw fail((cause as Error).message, cause)
  }
}

let imports = 0

async function importConfig(path: string, fail: Fail): Promise<unknown> {
  const url = pathToFileURL(path)
  // A module is imported once for each URL.
  url.searchParams.set('import', String(imports++))
  let module: { readonly default?: unknown }
  try {
    module = (await import(url.href)) as typeof module
  } catch (cause) {
    throw fail(`It can't be imported: ${reasonOf(cause)}`, cause)
  }
  if (module.default === undefined) throw fail('It has no default export')
  return module.default
}

async function authenticatorOf(given: GatewayConfig['authentication'], fail: Fail): Promise<Authenticator | undefined> {
  if (given === undefined || 'authenticate' in given) return given
  return await importJwt(given, fail)
}

async function importJwt(options: JwtAuthenticationOptions, fail: Fail): Promise<Authenticator> {
  let module: typeof import('../jwt/jwt-authentication.ts')
  try {
    module = await import('../jwt/jwt-authentication.ts')
  } catch (cause) {
    throw fail('Invalid option "authentication": it needs jose. Run `npm install jose`.', cause)
  }
  return module.jwtAuthentication(options)
}
