import { anyOf, custom, milliseconds, object, optional, type OptionsSchema, port, string } from 'checked-options'
import { jwtSchema } from '../jwt/jwt-options.ts'
import type { Authenticator } from '../options/authentication.ts'
import { factoryEntries, isAuthenticator } from '../options/schema.ts'
import type { GatewayConfig } from './define-config.ts'

const authenticator = custom<Authenticator>(
  'an object with authenticate, and a valid challenge if any',
  isAuthenticator,
)

/** The command's options after the check. */
export type CheckedCommand = Required<Pick<GatewayConfig, 'port' | 'host' | 'stopTimeout'>>

const commandEntries = {
  $schema: optional(string()),
  port: optional(anyOf(port(), string('a text of digits', /^\d{1,5}$/)), 3000),
  host: optional(string(), 'localhost'),
  stopTimeout: optional(milliseconds(), 10_000),
  authentication: optional(anyOf(authenticator, jwtSchema)),
}

/** The options that only a configuration file has, or has in another form. */
export const commandSchema: OptionsSchema<
  Pick<GatewayConfig, '$schema' | 'port' | 'host' | 'stopTimeout' | 'authentication'>,
  CheckedCommand
> = object(commandEntries)

/** The schema of a configuration file. */
export const configSchema: OptionsSchema<unknown, CheckedCommand & Required<Pick<GatewayConfig, 'fastify'>>> = object({
  ...factoryEntries,
  ...commandEntries,
}) as never
